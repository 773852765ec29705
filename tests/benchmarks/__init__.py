"""What memeval costs, as ratios to its peers and to the floor: ``python -m tests.benchmarks``.

Nothing here is a test, nothing here asserts, and nothing of the test suite is timed. Each module is
one subject and gives its figures by ``figures(quick)``; contestants of a figure take turns in one
process, by `timing.medians`.
"""
