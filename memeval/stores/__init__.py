"""Stores: what memeval asks of one, the embedded default, and the broken ones."""
