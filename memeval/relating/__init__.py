"""Parts of `memeval.relations`: records, questions, answers, and what must hold between them."""
