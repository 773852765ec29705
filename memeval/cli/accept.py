"""``memeval accept``: make these outcomes the baseline, and say what changed against the last."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.cli import files, options
from memeval.cli.console import show, wrapped
from memeval.cli.forms import show_json
from memeval.errors import RunFileError
from memeval.text import markdown_cell

if TYPE_CHECKING:
    from memeval.baseline import Accepted
    from memeval.outcomes import Outcomes
    from memeval.verdicts import Verdict

HELP = "accept outcomes as the baseline, with the reason"
DESCRIPTION = """\
Write the outcomes of a run into the baseline, to commit: per probe what was
found, at which rank, and the ids that came back; no times, no texts. Later runs
are compared with it. Where the outcomes are those already accepted, the file
stays as it is. Refused, with exit code 1: a leak, a broken contract, a lost
probe marked must, more failed searches than allowed; with 4: an invalid suite;
with 2: what cannot be read or written."""
EXAMPLE = "memeval accept --reason 'the new chunking loses two paraphrases, as agreed'"
BASELINE = "eval-results.baseline.json"
CHANGES = ("lost", "gained", "added", "removed", "edited")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument(
        "source",
        nargs="?",
        type=options.filled,
        metavar="RUN|RESULTS",
        help="a run file or results file (default: eval-results.json; where there is none, the "
        "newest run in .memeval/runs)",
    )
    parser.add_argument(
        "--reason", required=True, metavar="TEXT", help="why it shall be so; kept in the baseline"
    )
    parser.add_argument(
        "--baseline",
        type=options.filled,
        default=BASELINE,
        metavar="FILE",
        help=f"where it is kept (default: {BASELINE})",
    )
    parser.add_argument(
        "--holdout",
        action="store_true",
        help="accept the outcomes of held-out probes too, where they were asked",
    )
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """Accept or refuse the outcomes, say what changed, and give the exit code."""
    from memeval.baseline import accept, difference, former, reason_of
    from memeval.comparing.refusals import refusal
    from memeval.outcomes import read_outcomes

    outcomes = read_outcomes(args.source or _newest())
    if refused := refusal(outcomes):
        _show_refused(outcomes, refused, args.format)
        return refused.exit_code
    path = Path(args.baseline)
    before = former(path)
    held = path.read_bytes() if before is not None else b""
    accept(outcomes, path, reason=args.reason, holdout=args.holdout)
    told: dict[str, Any] = {
        "baseline": args.baseline,
        "source": outcomes.source,
        "accepted": True,
        "written": before is None or path.read_bytes() != held,
        "reason": args.reason if before is None else reason_of(path),
        "probes": len(outcomes),
        "passed": len(outcomes.passing),
    }
    _show(told, difference(before, outcomes), before is None, args.format)
    return 0


def _newest() -> str:
    """Results file of this folder, else the newest run that was kept."""
    if Path(files.RESULTS).exists():
        return files.RESULTS
    there = [p for p in files.RUNS.glob("*.json") if p.is_file() and p.stat().st_size]
    if not there:
        raise RunFileError(
            f"found no {files.RESULTS} and no run in {files.RUNS.as_posix()}, wanted outcomes to "
            "accept; run 'memeval run' first, or name a file"
        )
    return max(there, key=lambda p: (p.stat().st_mtime_ns, p.name)).as_posix()


def _show_refused(outcomes: Outcomes, refused: Verdict, name: str) -> None:
    told = {
        "source": outcomes.source,
        "accepted": False,
        "verdict": refused.word,
        "reason": refused.reason,
        "next_step": refused.next_step,
    }
    if name == "json":
        show_json(told)
        return
    rows = [(key, str(told[key])) for key in ("source", "reason", "next_step")]
    _show_rows(f"NOT ACCEPTED ({refused.word})", rows, name)


def _show(told: dict[str, Any], changes: Accepted, first: bool, name: str) -> None:
    named = {change: list(getattr(changes, change)) for change in CHANGES}
    if name == "json":
        show_json(told | named)
        return
    head = "ACCEPTED" if told["written"] else "UNCHANGED: these outcomes are the baseline already"
    failed = told["probes"] - told["passed"]
    rows = [
        ("baseline", told["baseline"]),
        ("source", told["source"]),
        ("reason", told["reason"]),
        ("probes", f"{told['probes']}: {told['passed']} passed, {failed} did not"),
    ]
    if first:
        rows.append(("before", "there was no baseline"))
    else:
        rows += [(change, f"{len(n)}: {', '.join(n)}") for change, n in named.items() if n]
        if not any(named.values()):
            rows.append(("changes", "no probe was lost, gained, added, removed or edited"))
    _show_rows(head, rows, name)


def _show_rows(head: str, rows: list[tuple[str, str]], name: str) -> None:
    if name == "markdown":
        lines = [f"- **{key}** {markdown_cell(text)}" for key, text in rows]
        show("\n".join([f"**{head}**", "", *lines]))
        return
    broad = max(len(key) for key, _ in rows) + 2
    show("\n".join([head, *(wrapped(f"{k:<{broad}}{t}", " " * broad) for k, t in rows)]))
