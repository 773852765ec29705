"""How results come from hits, labels and calls; `memeval.metrics` is the door."""
