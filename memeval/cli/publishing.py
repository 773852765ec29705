"""What others than a terminal show of a verb: GitHub workflows, and readers of JUnit XML.

A GitHub runner reads both streams for commands, and tables hold texts of others. So with
``--github`` it is told at the start of the verb to take none, under a token that nobody can guess,
and to take them again just before the annotations. Beside JSON on stdout these lines are on stderr.
Where a verb ends in an error they are not taken again: what went wrong may hold such texts too.
"""

from __future__ import annotations

import argparse
import functools
import os
import secrets
import sys
from collections.abc import Callable
from typing import TextIO

from memeval.cli.console import say

SUMMARY = "GITHUB_STEP_SUMMARY"
# What a step summary may hold is one MiB; a longer one would not be shown at all.
MOST_BYTES = 1_000_000


def add_github(group: argparse._ActionsContainer) -> None:
    """Add that a GitHub workflow shows the outcome."""
    group.add_argument(
        "--github",
        action="store_true",
        help="write annotations for a GitHub workflow, and the outcome into its step summary",
    )


def without_commands(
    execute: Callable[[argparse.Namespace], int],
) -> Callable[[argparse.Namespace], int]:
    """Let no text that a verb prints be a command to the runner, where ``--github`` is given.

    Parameters
    ----------
    execute : callable
        Of a verb that ends with `publish`, or without.
    """

    @functools.wraps(execute)
    def stopped(args: argparse.Namespace) -> int:
        args.github_token = None
        if args.github:
            args.github_token = secrets.token_hex(16)
            print(f"::stop-commands::{args.github_token}", file=_stream(args), flush=True)
        code = execute(args)
        _resume(args)
        return code

    return stopped


def _stream(args: argparse.Namespace) -> TextIO:
    return sys.stderr if args.format == "json" else sys.stdout


def _resume(args: argparse.Namespace) -> None:
    """Let the runner take commands again, after all that was printed so far."""
    if args.github_token is not None:
        sys.stdout.flush()
        sys.stderr.flush()
        print(f"::{args.github_token}::", file=_stream(args), flush=True)
        args.github_token = None


def publish(annotations: str, summary: str, args: argparse.Namespace) -> None:
    """Show annotations, and append to the step summary where there is one.

    Parameters
    ----------
    annotations : str
        Commands to the runner, a line each; they stand on stdout, beside JSON on stderr.
    summary : str
        Markdown.
    args : argparse.Namespace
        Of the verb.
    """
    if not args.github:
        return
    _resume(args)
    if annotations:
        print(annotations, file=_stream(args), flush=True)
    path = os.environ.get(SUMMARY)
    if not path:
        say(f"{SUMMARY} is not set, so there is no step summary", quiet=args.quiet)
        return
    raw = f"{summary.rstrip()}\n\n".encode()
    if len(raw) > MOST_BYTES:
        raw = raw[:MOST_BYTES].rsplit(b"\n", 1)[0] + b"\n\n(cut: see the log of the step)\n\n"
    try:
        with open(path, "ab") as file:
            file.write(raw)
    except (OSError, ValueError) as error:  # the outcome stands, whoever is told of it
        said = getattr(error, "strerror", None) or error
        say(f"{SUMMARY}: cannot write to {path} ({said}); there is no step summary")
