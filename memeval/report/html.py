"""The report as one HTML page: offline, without a request, safe with any text."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from memeval.comparing.manifests import without_private
from memeval.comparison import Comparison
from memeval.files.earlier import Earlier
from memeval.report import (
    answers,
    cause_rows,
    comparison_page,
    comparison_rows,
    control_rows,
    coverage_rows,
    curve_rows,
    drift_page,
    holdout_rows,
    mutation_page,
    tables,
    tag_rows,
    trend_rows,
)
from memeval.report.mutation_rows import Mutated
from memeval.report.places import MOST_LISTED
from memeval.report.probes import STATUSES, Ledger, anchor
from memeval.report.templating import render, resource
from memeval.runs import Manifest, Run
from memeval.simulation import Simulation

SHORT_TEXT = 600
LONGEST_TEXT = 100_000


def report_html(
    run: Run,
    *,
    comparison: Comparison | None = None,
    simulation: Simulation | None = None,
    mutation: Mutated | None = None,
    earlier: Earlier | None = None,
    texts: bool = True,
    all_probes: bool = False,
) -> str:
    """Make the page of a run.

    Parameters
    ----------
    run : Run
        What is reported.
    comparison : Comparison, optional
        Of this run with a baseline: it gets a section after the numbers.
    simulation : Simulation, optional
        How the store answered as it grew: it gets a section too, unless the suite is invalid.
    mutation : Mutation, optional
        Which faults of the store the probes see: the same.
    earlier : Earlier, optional
        The runs before this one: each probe gets a strip of how it did in them.
    texts : bool
        Whether the texts of records are in it.
    all_probes : bool
        Whether the probes that passed get a detail of their own too.

    Returns
    -------
    str
        A whole HTML document, the same for the same run.

    Notes
    -----
    Its policy lets nothing load and only its own script run, by the hash of that script; escaping
    is the first line, the policy the second.
    """
    from markupsafe import Markup

    bare = run if texts else run.without_texts()
    ledger = None if control_rows.withheld(run.validity) else Ledger(bare)
    script = resource("report.js")
    return render(
        "report.html.j2",
        # Both are files of this package, without any text of others.
        style=Markup(resource("report.css")),  # noqa: S704
        script=Markup(script),  # noqa: S704
        policy=policy(script),
        short_text=SHORT_TEXT,
        longest_text=LONGEST_TEXT,
        most_listed=MOST_LISTED,
        statuses=STATUSES,
        anchor=anchor,
        what=tables.WHAT,
        withheld_words=control_rows.WITHHELD,
        no_number=comparison_rows.WITHHELD,
        ledger=ledger,
        trends=None if ledger is None else trend_rows.trends(run, earlier),
        trend_key=trend_rows.KEY,
        texts=texts,
        all_probes=all_probes,
        **_sections(run, bare, ledger, all_probes, comparison, simulation, mutation),
        **_values(run, bare),
    )


def _sections(
    run: Run,
    bare: Run,
    ledger: Ledger | None,
    all_probes: bool,
    comparison: Comparison | None,
    simulation: Simulation | None,
    mutation: Mutated | None,
) -> dict[str, Any]:
    """The parts that not every page has, and the first screen, which sums them up."""
    causes = cause_rows.rows(bare)
    compared = _compared(comparison, ledger, all_probes)
    drift = None if simulation is None or ledger is None else drift_page.section(simulation, run)
    killed = None
    if mutation is not None and ledger is not None:
        killed = mutation_page.section(mutation, run, _places(ledger, all_probes))
    return {
        "compared": compared,
        "drift": drift,
        "mutation": killed,
        "answers": list(answers.answers(run, compared, drift, killed)),
        "next_step": answers.next_step(run, causes),
    }


def policy(script: str) -> str:
    """What the page may do: nothing but its own style and this one script.

    Examples
    --------
    >>> policy("1")
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='; base-uri 'none'; form-action 'none'"
    """  # noqa: E501 - a doctest cannot break a line of output
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def _values(run: Run, bare: Run) -> dict[str, Any]:
    """What the template prints: numbers of the run with its texts, probes of the one to show."""
    frame = control_rows.controls_of(run)
    checks = control_rows.checks(frame, run.validity)
    hidden = control_rows.withheld(run.validity)
    word, sentence = control_rows.SUITE_WORDS[run.validity.status]
    return {
        "manifest": run.manifest,
        "validity": run.validity,
        "verdict": run.verdict,
        "withheld": hidden,
        "suite_word": word,
        "suite_sentence": sentence,
        "n_probes": len(run.suite),
        "haystack_name": run.suite.haystack_name,
        "checks": checks,
        "hidden_checks": control_rows.hidden_checks(frame, run.validity),
        "spotlight": control_rows.spotlight(checks),
        "was_run": run.controls is not None,
        "parts": tables.split(run),
        "tiles": tables.tiles(run),
        "metrics": tables.metrics(run),
        "bars": tables.rank_bars(run),
        "thin": tables.thin(run),
        "coverage": coverage_rows.coverage(run),
        "coverage_note": coverage_rows.NOTE,
        "most_pairs": coverage_rows.MOST_PAIRS,
        "held": holdout_rows.told(run),
        **_why(bare),
        **_settings(run),
        "tags": tag_rows.tags(run),
        "tags_note": tag_rows.NOTE,
        "facts": list(manifest_rows(run.manifest)),
    }


def _places(ledger: Ledger, all_probes: bool) -> dict[str, str]:
    """Where each probe stands: in a detail of its own, else in its row."""
    told = set(ledger.order if all_probes else ledger.failing)
    return {n: anchor(n) if n in told else f"row-{anchor(n)}" for n in ledger.order}


def _compared(
    comparison: Comparison | None, ledger: Ledger | None, all_probes: bool
) -> comparison_page.Section | None:
    """What is said of the comparison; the probes with a detail are those of the template."""
    if comparison is None:
        return None
    told = [] if ledger is None else ledger.order if all_probes else ledger.failing
    return comparison_page.section(comparison, ledger, told)


def _why(run: Run) -> dict[str, Any]:
    """Causes of the failed probes, where the run was diagnosed."""
    causes = cause_rows.rows(run)
    return {
        "causes": causes,
        "cause_counts": cause_rows.counts(causes),
        "cause_groups": cause_rows.groups(causes),
        "why_first": cause_rows.why_first(causes) if causes else "",
        "order": cause_rows.ORDER,
    }


def _settings(run: Run) -> dict[str, Any]:
    """What the answers would be worth at other cutoffs and under floors on the score."""
    cutoffs, floors = curve_rows.cutoffs(run), curve_rows.floors(run)
    return {
        "cutoffs": cutoffs,
        "cutoff_note": curve_rows.cutoff_note(cutoffs) if cutoffs else "",
        "cutoff_chart": curve_rows.cutoff_chart(cutoffs) if cutoffs else None,
        "floors": floors,
        "fitted": curve_rows.FITTED,
    }


def manifest_rows(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """What was measured with what, flat: a name with dots, and the value as text.

    What a store and the options tell is shown without places and secrets: the page is mailed.
    """
    for name, value in vars(manifest).items():
        if name in ("store_info", "options"):
            yield from _flat(name, without_private(value))
        elif isinstance(value, Mapping):
            yield from _flat(name, value)
        else:
            yield name, _value(value)


def _flat(name: str, value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in value:
        entry = value[key]
        if isinstance(entry, Mapping) and entry:
            yield from _flat(f"{name}.{key}", entry)
        else:
            yield f"{name}.{key}", _value(entry)


def _value(value: Any) -> str:
    if isinstance(value, list | tuple | set | frozenset):
        entries = sorted(map(str, value)) if isinstance(value, set | frozenset) else map(str, value)
        return ", ".join(entries) or "none"
    return "none" if value is None or value == {} else str(value)
