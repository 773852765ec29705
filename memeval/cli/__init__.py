"""The command line: a verb is parse, one library call, print, exit code.

Exit codes: 0 good; 1 a verdict said no; 2 could not run (usage, file, store, or a bug in memeval);
4 the suite is invalid; 130 interrupted. Nothing here imports numpy, pandas or yaml before a verb
is carried out.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from memeval.cli import console
from memeval.cli.guard import guarded
from memeval.cli.parser import build, parse

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the name of the program; those of the process by default.

    Returns
    -------
    int
        Exit code: 0 good, 1 a verdict said no, 2 could not run, 4 the suite is invalid,
        130 interrupted.

    Examples
    --------
    >>> from memeval.cli import main
    >>> main(["--version"])  # doctest: +ELLIPSIS
    memeval ...
    0
    """
    console.make_safe()
    try:
        args = parse(build(), sys.argv[1:] if argv is None else list(argv))
    except SystemExit as stop:  # argparse has printed a usage error, or the help
        return stop.code if isinstance(stop.code, int) else 2
    return guarded(lambda: args.execute(args), quiet=args.quiet, trace=args.traceback)
