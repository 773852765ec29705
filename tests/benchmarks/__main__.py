"""Print one table of ratios: ``python -m tests.benchmarks [SUBJECT ...] [--quick]``."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterable

from .timing import Figure

SUBJECTS = (
    "scoring", "frames", "intervals", "harness", "stores", "startup", "parallel", "growth",
    "history", "compare", "drift", "serving", "adapters",
)  # fmt: skip
LEGEND = """\
Goal >= N: memeval at least N times as fast as the other. Goal <= N: at most N times
the time (or size) of the other. "!": the goal is not kept in this run. Ratios of CPU
medians in one process; on a busy machine they wander, small sizes (--quick) most.
"""
WIDTHS = (38, 9, 9, 8, 7)


def main() -> int:
    """Run the subjects that are asked for, all by default."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=", ".join(SUBJECTS))
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer rounds")
    given = parser.parse_args()
    odd = sorted(set(given.subjects) - set(SUBJECTS))
    if odd:
        parser.error(f"found no subject {odd[0]!r}, wanted some of {', '.join(SUBJECTS)}")
    print(LEGEND)
    print(_line("what, and against whom", "memeval", "other", "ratio", "goal"))
    for subject in given.subjects or SUBJECTS:
        print(f"-- {subject}")
        try:
            module = importlib.import_module(f"{__package__}.{subject}")
            _show(module.figures(given.quick))
        except ImportError as missing:
            print(f"   left out: {missing}; pip install -e '.[peers]'")
    return 0


def _show(figures: Iterable[Figure]) -> None:
    for figure in figures:
        sign = ">=" if figure.at_least else "<="
        print(figure.subject)
        print(
            _line(
                f"   {figure.against}",
                _amount(figure.ours, figure.unit),
                _amount(figure.other, figure.unit),
                f"{figure.ratio:.2f}",
                f"{sign}{figure.goal:g}{'' if figure.reached else ' !'}",
            ),
            flush=True,
        )


def _amount(value: float, unit: str) -> str:
    if unit != "s":
        return f"{value:.3g} {unit}"
    for size, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= size:
            return f"{value / size:.3g} {name}"
    return f"{value / 1e-9:.3g} ns"


def _line(*cells: str) -> str:
    first, *rest = (
        f"{cell:<{width}}" if n == 0 else f"{cell:>{width}}"
        for n, (cell, width) in enumerate(zip(cells, WIDTHS, strict=True))
    )
    return " ".join([first, *rest]).rstrip()


if __name__ == "__main__":
    sys.exit(main())
