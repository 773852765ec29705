"""How two runs are compared; `memeval.comparison` is the door."""
