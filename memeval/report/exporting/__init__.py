"""Notebooks, run and made into one HTML file that opens anywhere, offline.

`memeval.report.exporting.export.export_notebook` does all of it; the notebooks that ship are found
by `memeval.report.exporting.shipped`.
"""
