"""The parts of the evaluation call: what is asked, the asking, the answer."""
