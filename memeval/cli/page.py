"""Writing the page: the runs that were kept before it, and how large it became."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.cli import files
from memeval.cli.console import say

if TYPE_CHECKING:
    from memeval.files.earlier import Earlier
    from memeval.runs import Run

LARGE = 5_000_000
"""Bytes from which a page is hard to mail and to open on a phone."""
MOST_TOLD = 3


def write_page(run: Run, html: Path, args: argparse.Namespace, **beside: Any) -> None:
    """Write the report of a run, and say how large it is.

    Parameters
    ----------
    run : Run
        What is drawn.
    html : Path
        The file.
    args : argparse.Namespace
        Of `memeval report`.
    **beside
        Of `memeval.write_report`.
    """
    from memeval.report import write_report

    earlier = kept_before(run, quiet=args.quiet)
    write_report(run, html, texts=not args.no_texts, earlier=earlier, **beside)
    if not os.path.isfile(html):  # what was written to a pipe has no size any more
        return
    size = html.stat().st_size
    say(f"wrote {html} ({size_words(size)})", quiet=args.quiet)
    if size > LARGE:
        say(
            f"warning: {html} is {size_words(size)}: many mails refuse that, and phones open it "
            "slowly; --no-texts leaves the texts of records out"
        )


def kept_before(run: Run, *, quiet: bool = False) -> Earlier:
    """The runs of the same store that this folder kept before; what cannot be read is said."""
    from memeval.files.earlier import earlier_runs

    earlier = earlier_runs(files.RUNS, run)
    told = list(earlier.left_out.values())
    for why in told[:MOST_TOLD]:
        say(f"passed over: {why}", quiet=quiet)
    if len(told) > MOST_TOLD:
        say(f"passed over: {len(told) - MOST_TOLD} more that cannot be read", quiet=quiet)
    return earlier


def size_words(n: int) -> str:
    """Write a number of bytes as people read it.

    Examples
    --------
    >>> size_words(900), size_words(312_400), size_words(5_240_000)
    ('1 KB', '312 KB', '5.2 MB')
    """
    return f"{n / 1e6:.1f} MB" if n >= 999_500 else f"{max(1, round(n / 1000))} KB"
