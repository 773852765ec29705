"""How a store is asked; `memeval.runner` and `memeval.diagnosis` are the doors."""
