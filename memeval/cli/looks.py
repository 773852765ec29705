"""Looks at the held-out probes: each is counted before its numbers are shown, or none is shown."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memeval.cli.console import say
from memeval.cli.files import RESULTS
from memeval.config import Config
from memeval.errors import MemevalError

if TYPE_CHECKING:
    from memeval.runs import Run
    from memeval.suite import Suite


def ledger_path(config: Config) -> Path:
    """The ledger that is set, else the one beside the results file of the project.

    An ``--out`` for once does not move it: looks would be counted apart, and lost.
    """
    from memeval.ledger import LEDGER

    return Path(config.ledger or Path(config.out or RESULTS).with_name(LEDGER))


def check_ledger(suite: Suite, config: Config) -> None:
    """Refuse a look that could not be counted, before a run is paid for.

    Raises
    ------
    MemevalError
        If the ledger has odd lines, or nothing can be added to it.
    """
    if not suite.looked_at:
        return
    from memeval.cli.files import check_place
    from memeval.ledger import load_looks

    path = ledger_path(config)
    check_place(path)
    load_looks(path)
    if path.exists() and not os.access(path, os.W_OK):
        raise MemevalError(
            f"{path}: the ledger is read-only, so that no look can be counted; make it writable, "
            "or leave --holdout out"
        )


def counted(made: Run, config: Config, *, quiet: bool = False) -> Run:
    """Count the look that a run was, and give the run with all looks so far.

    Parameters
    ----------
    made : Run
        Fresh from the store; one that asked no held-out probe is given back as it is.
    config : Config
        Says where the ledger is.
    quiet : bool
        Say nothing.

    Raises
    ------
    MemevalError
        If it cannot be counted: then nothing of the run must be shown.
    """
    held = made.suite.held_out
    if held is None or not made.suite.looked_at:
        return made
    from memeval.ledger import append_look, wear
    from memeval.report.holdout_rows import looks_words, worn_words

    path = ledger_path(config)
    made = made.looked(append_look(path, made))
    used = wear(made.looks, held.hash) if made.looks is not None else None
    if used is not None:
        say(f"holdout: {looks_words(used)}; counted in {path}", quiet=quiet)
        if used.worn_out:
            say(f"warning: {worn_words(used)}", quiet=quiet)
    return made
