"""Runs, results and baselines on disk, and in git."""
