"""What others than a terminal show of a verb: GitHub workflows, and readers of JUnit XML."""

from __future__ import annotations

import argparse
import os
import sys

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
    if annotations:
        print(annotations, file=sys.stderr if args.format == "json" else sys.stdout, flush=True)
    path = os.environ.get(SUMMARY)
    if not path:
        say(f"{SUMMARY} is not set, so there is no step summary", quiet=args.quiet)
        return
    raw = f"{summary.rstrip()}\n\n".encode()
    if len(raw) > MOST_BYTES:
        raw = raw[:MOST_BYTES].rsplit(b"\n", 1)[0] + b"\n\n(cut: see the log of the step)\n\n"
    with open(path, "ab") as file:
        file.write(raw)
