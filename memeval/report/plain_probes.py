"""Failing probes as text of 80 columns: why they failed in short, then one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memeval.report import cause_rows, control_rows, figures
from memeval.report.layout import WIDTH, paragraph, table
from memeval.report.places import MOST_LISTED, Judged
from memeval.report.probes import STATUSES, Detail, Ledger
from memeval.runs import Run
from memeval.text import visible

LABEL = 11
AGAIN = "as above"
WIDTHS, SIDES = (3, 35, 4, 35), "rlrl"


def causes_text(run: Run, limit: int | None = None) -> str:
    """Why probes failed: which to mend first, how many of each cause, and a row per probe.

    Parameters
    ----------
    run : Run
        What is reported.
    limit : int, optional
        Most probes to list; how many more there are is said. Without it all are listed.

    Returns
    -------
    str
        Lines of at most 80 columns; empty where the run was not diagnosed or the suite is invalid.
    """
    told = cause_rows.rows(run)
    if not told:
        return ""
    kept = told if limit is None else told[: max(0, limit)]
    parts = [
        f"WHY: {figures.count(len(told), 'failing probe')}, in the order in which to mend them",
        paragraph(cause_rows.first_words(told)),
        table(["", "probe", "rank", "next step"], [], WIDTHS, SIDES),
        *(_group(group, len(kept)) for group in cause_rows.groups(told) if _first(group, kept)),
    ]
    more = len(told) - len(kept)
    if more:
        parts.append(f"and {figures.count(more, 'more failing probe')}: 'memeval report' shows all")
    key = "rank: of the missing record when more is asked for.  -: it never came, or none is wanted"
    return "\n\n".join([*parts, paragraph(key)])


def _first(group: cause_rows.Group, kept: Sequence[cause_rows.CauseRow]) -> bool:
    return group.rows[0].place <= len(kept)


def _group(group: cause_rows.Group, last: int) -> str:
    """One cause, and the probes that failed of it up to a place."""
    rows = [
        [f"{row.place}.", row.probe, row.rank or "-", AGAIN if again else row.next_step]
        for row, again in group.steps()
        if row.place <= last
    ]
    _, _, *lines = table(["", "", "", ""], rows, WIDTHS, SIDES).split("\n")
    return "\n".join([paragraph(f"{group.title}: {group.meaning}"), *lines])


def failing_text(run: Run, limit: int | None = None) -> str:
    """What went wrong in each probe that did not pass, first to mend first, else worst first.

    Parameters
    ----------
    run : Run
        What is reported.
    limit : int, optional
        Most probes to tell of; how many more there are is said. Without it all are told.

    Returns
    -------
    str
        Lines of at most 80 columns; texts are cut to one line, and the heading says so.
    """
    if control_rows.withheld(run.validity):
        return paragraph(f"FAILING PROBES: {control_rows.WITHHELD}")
    ledger = Ledger(run)
    if not ledger.failing:
        return "FAILING PROBES: none"
    told = ledger.failing if limit is None else ledger.failing[: max(0, limit)]
    title = f"FAILING PROBES: {len(ledger.failing)} of {len(ledger.results)}"
    blocks = [f"{title}; texts are cut to one line"]
    blocks += ["\n".join(_failing(f"{n}.", ledger.detail(name))) for n, name in enumerate(told, 1)]
    more = len(ledger.failing) - len(told)
    if more:
        blocks.append(
            f"and {figures.count(more, 'more failing probe')}: 'memeval report' shows all"
        )
    return "\n\n".join(blocks)


def probe_text(ledger: Ledger, name: str) -> str:
    """What went wrong in one probe, in lines of at most 80 columns.

    Parameters
    ----------
    ledger : Ledger
        Of the run.
    name : str
        Of a probe in it.
    """
    return "\n".join(_failing("", ledger.detail(name)))


def _failing(number: str, detail: Detail) -> Iterator[str]:
    yield paragraph(f"{detail.row.name}: {detail.row.outcome}", 4, first=number)
    if detail.cause is not None:
        yield _line("cause", f"{detail.cause.cause}: {detail.cause.meaning}")
        yield _line("because", detail.cause.because)
        yield _line("next", detail.cause.next_step)
    yield _line("asked", _short(detail.probe.query))
    if detail.row.tags:
        yield _line("tags", ", ".join(detail.row.tags))
    if detail.status != "ok":
        yield _line("status", f"{detail.status}: {STATUSES[detail.status]}")
    yield from (_line("error", error) for error in detail.errors)
    yield from (_line("LEAK", leak) for leak in detail.leaks)
    yield from (_line("contract", breach) for breach in detail.breaches)
    for group in detail.wanted:
        yield _line("expected", f"{' or '.join(group.ids)}: {group.words}")
        if not group.in_top:
            yield from (
                _line("", _short(f"{record.id} = {record.text}")) for record in group.records
            )
    if detail.probe.is_negative:
        yield _line("expected", "an empty answer: nothing that was written is right")
    yield from _returned(detail)
    yield from _absent(detail.forbidden)
    yield from (_line("note", note) for note in detail.notes)


def _returned(detail: Detail) -> Iterator[str]:
    if not detail.places and detail.status == "ok":
        yield _line("returned", "nothing")
    for place in detail.places:
        labels = "; ".join(label.words for label in place.labels)
        below = ", below the top k" if place.beyond else ""
        name = "returned" if place.rank == 1 else ""
        yield _line(name, f"{place.rank}. {place.record} ({labels}{below})")
        text = "(text left out)" if place.text is None else place.text
        yield " " * (4 + LABEL + 3) + visible(text, WIDTH - 4 - LABEL - 3)


def _absent(forbidden: tuple[Judged, ...]) -> Iterator[str]:
    """Forbidden records that stayed away, in one line."""
    away = [row.record for row in forbidden if row.rank is None]
    if away:
        more = f" and {len(away) - MOST_LISTED} more" if len(away) > MOST_LISTED else ""
        yield _line("kept out", f"{', '.join(away[:MOST_LISTED])}{more} (forbidden)")


def _line(name: str, words: str) -> str:
    indent = 4 + LABEL
    return paragraph(words, indent, first=" " * 4 + name)


def _short(text: str) -> str:
    return visible(text, WIDTH - 4 - LABEL)
