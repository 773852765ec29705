"""The questions of a store check, and how they are tried."""
