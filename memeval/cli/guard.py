"""From what may go wrong to one clear message and an exit code: no traceback for bad input."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from memeval.cli.console import say, warnings_in_one_line
from memeval.errors import MemevalError, said

COULD_NOT_RUN = 2
INTERRUPTED = 130
_PACKAGE = Path(__file__).resolve().parent.parent
_BETWEEN = {_PACKAGE / "stores" / name for name in ("bound.py", "waiting.py")}


def guarded(call: Callable[[], int], *, quiet: bool = False, trace: bool = False) -> int:
    """Do what a verb does, with the working folder importable; give its exit code.

    Parameters
    ----------
    call : callable
        Gives an exit code.
    quiet : bool
        Show no warnings.
    trace : bool
        Show the traceback of an error too.

    Returns
    -------
    int
        The code of `call`; 2 where it could not run, which includes a bug in memeval (1 is kept
        for verdicts that said no); 130 where it was stopped by the keyboard.
    """
    try:
        with warnings_in_one_line(quiet=quiet), importable_here():
            code = call()
            sys.stdout.flush()
            return code
    except KeyboardInterrupt:
        say("interrupted; results are written only when a run has come to its end")
        return INTERRUPTED
    except BrokenPipeError:
        _stop_writing()
        say("the reader of the output has gone away; what was not yet written is lost")
    except BaseException as error:  # the last place to tell of it in words
        if trace:
            say(traceback.format_exc())
        say(explained(error))
    return COULD_NOT_RUN


def explained(error: BaseException) -> str:
    """Say what went wrong, and what to do where the error itself does not.

    Examples
    --------
    >>> explained(FileNotFoundError(2, "No such file or directory", "probes.yaml"))
    'probes.yaml: No such file or directory; check the path, and whether you may use it'
    """
    if isinstance(error, MemevalError):
        return str(error) or said(error)
    if isinstance(error, OSError) and error.filename is not None:
        reason = error.strerror or said(error)
        return f"{error.filename}: {reason}; check the path, and whether you may use it"
    if _is_of_the_store(error):
        return (
            f"the store failed where it must not ({said(error)}); mend the store or its adapter, "
            "--traceback shows where"
        )
    if isinstance(error, OSError | UnicodeError):
        return f"{said(error)}; --traceback shows where"
    return (
        f"this is a bug in memeval, not in your probes: {said(error)}; run it again with "
        "--traceback and report what it prints, together with what 'memeval env' prints"
    )


def _is_of_the_store(error: BaseException) -> bool:
    """Whether it came up beyond the last place where memeval speaks to a store."""
    places = [Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)]
    ours = [n for n, place in enumerate(places) if _PACKAGE in place.parents]
    return bool(ours) and places[ours[-1]] in _BETWEEN and ours[-1] < len(places) - 1


def _stop_writing() -> None:
    """Keep Python from failing once more, when it flushes what nobody reads."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):  # a stream of a test or a notebook has none
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


@contextmanager
def importable_here() -> Iterator[None]:
    """Let modules of the working folder be imported, as ``python -m`` does."""
    here = os.getcwd()
    if here in sys.path or "" in sys.path:
        yield
        return
    sys.path.insert(0, here)
    try:
        yield
    finally:
        if here in sys.path:
            sys.path.remove(here)
