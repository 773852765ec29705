"""A mutation as text of 80 columns, and as Markdown.

What a suite does not see stands first, with the probes that would see it in full. Texts of others
are made visible and wrapped, never cut.
"""

from __future__ import annotations

from memeval.report import mutation_rows as rows
from memeval.report.figures import count
from memeval.report.layout import WIDTH, paragraph, table, wrap
from memeval.report.markdown_probes import markdown_table
from memeval.report.mutation_rows import Mutated
from memeval.text import display_width, markdown_cell, visible

__all__ = ["mutation_markdown", "mutation_text", "saboteurs_markdown", "saboteurs_text"]

LABEL = 11
KILL_WIDTHS = (35, 5, 5, 8, 7, 7, 5)
BY_HEAD, BY_WIDTHS, BY_SIDES = (
    ("killed by", "saboteurs", "probes", "that is"),
    (9, 9, 6, 53),
    "lrrl",
)
LIST_HEAD, LIST_WIDTHS = ("saboteur", "fault", "tag"), (24, 40, 14)
TITLE = "faults put into your store on purpose"
NONE_LIVES = "SURVIVORS: none; every fault that was put in and counts on this store is killed"


def mutation_text(mutation: Mutated) -> str:
    """Everything for a terminal or a log.

    Parameters
    ----------
    mutation : Mutation
        What is shown; of an invalid suite without any number and any outcome.

    Returns
    -------
    str
        Lines of at most 80 columns, with a line end behind the last.
    """
    if rows.withheld(mutation):
        parts = [f"MUTATION: {TITLE}", _verdict(mutation), paragraph(rows.WITHHELD)]
    else:
        counted = [_score(mutation), _asides(mutation), _kills(mutation), _idle(mutation)]
        parts = [*_survivors(mutation), _verdict(mutation), *counted]
    return "\n\n".join(filter(None, parts)) + "\n"


def _survivors(mutation: Mutated) -> list[str]:
    """What lives: each with what is missing and the probes that would kill it."""
    alive = rows.survivors(mutation)
    if not alive:
        return [NONE_LIVES] if mutation.n_counted else []
    title = f"SURVIVORS: {count(len(alive), 'fault')} that no probe sees; write what is missing"
    return [title, *(_survivor(n, one) for n, one in enumerate(alive, 1))]


def _survivor(n: int, one: rows.Survivor) -> str:
    mark = " (MUST be killed)" if one.must else ""
    lines = [paragraph(f"{one.name}{mark}: {one.fault}", 4, first=f"{n}.")]
    lines += [paragraph(words, 4 + LABEL, first=f"    {label}") for label, words in one.points]
    if one.skeleton:
        lines += ["", *(piece for line in one.skeleton.split("\n") for piece in folded(line))]
    return "\n".join(lines)


def folded(line: str, width: int = WIDTH) -> list[str]:
    """Break a line of YAML so that it still says the same, as far as its blanks allow.

    Parameters
    ----------
    line : str
        One line of a probe file; what could act on a terminal is made visible.
    width : int
        Columns of a line.

    Returns
    -------
    list of str
        What goes on stands deeper than the line itself; of a comment it is a comment again.

    Examples
    --------
    >>> folded("  why: one two three", 18)
    ['  why: one two', '      three']
    >>> folded("# one two three", 10)
    ['# one two', '# three']
    """
    if display_width(visible(line)) <= width:
        return [visible(line)]
    bare = line.lstrip(" ")
    inset = " " * min(len(line) - len(bare), width // 2)
    if bare.startswith("#"):
        return [f"{inset}# {piece}" for piece in wrap(bare[1:].lstrip(), width - len(inset) - 2)]
    first, *more = wrap(bare, width - len(inset) - 4)
    return [inset + first, *(f"{inset}    {piece}" for piece in more)]


def _verdict(mutation: Mutated) -> str:
    verdict = mutation.verdict
    lines = [f"VERDICT: {verdict.word}", paragraph(verdict.reason, LABEL, first="why:")]
    if verdict.next_step:
        lines.append(paragraph(verdict.next_step, LABEL, first="next:"))
    lines += [paragraph(note, LABEL, first="note:") for note in mutation.notes]
    return "\n".join(lines)


def _score(mutation: Mutated) -> str:
    lines = [
        paragraph(rows.must(mutation), LABEL, first="must-kill:"),
        paragraph(rows.head(mutation), LABEL, first="score:"),
        paragraph(rows.asked(mutation), LABEL),
    ]
    thin = rows.thin_suite(mutation)
    lines += [paragraph(thin, LABEL, first="but:")] if thin else []
    by = rows.killed_by(mutation)
    if by:
        lines += ["", table(BY_HEAD, by, BY_WIDTHS, BY_SIDES)]
    return "\n".join(lines)


def _asides(mutation: Mutated) -> str:
    told = rows.asides(mutation)
    if not told:
        return ""
    lines = [f"NOT COUNTED: {count(len(told), 'saboteur')}"]
    lines += [paragraph(f"{one.name}: {one.state}; {one.reason}", 4) for one in told]
    return "\n".join(lines)


def _kills(mutation: Mutated) -> str:
    cells = rows.kills(mutation)
    if not cells:
        return "KILLED: none"
    lines = [
        f"KILLED: {count(len(cells), 'saboteur')}",
        table(rows.KILL_HEAD, cells, KILL_WIDTHS, rows.KILL_SIDES),
        paragraph(rows.KEY),
    ]
    once = rows.thin(mutation)
    if once:
        lines += ["", f"KILLED BY ONE PROBE ALONE: {count(len(once), 'saboteur')}"]
        lines += [paragraph(f"{name}: {probe}", 4) for name, probe in once]
    return "\n".join(lines)


def _idle(mutation: Mutated) -> str:
    lines = [paragraph(f"IDLE: {rows.idle_head(mutation)}")]
    names = rows.idle(mutation)
    return "\n".join([*lines, *([paragraph(names, 4)] if names else [])])


def mutation_markdown(mutation: Mutated) -> str:
    """Everything for a comment on a change: every text of others is escaped.

    Parameters
    ----------
    mutation : Mutation
        What is shown.

    Returns
    -------
    str
        Markdown, with a line end behind the last line.
    """
    verdict = mutation.verdict
    said = [
        f"## Mutation: {verdict.word}",
        markdown_cell(verdict.reason),
        f"Next: {markdown_cell(verdict.next_step)}" if verdict.next_step else "",
        *(f"Note: {markdown_cell(note)}" for note in mutation.notes),
    ]
    if rows.withheld(mutation):
        return "\n\n".join(filter(None, [*said, rows.WITHHELD])) + "\n"
    parts = [said[0], *_survivors_markdown(mutation), *said[1:], *_score_markdown(mutation)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _survivors_markdown(mutation: Mutated) -> list[str]:
    alive = rows.survivors(mutation)
    if not alive:
        return []
    parts = [f"### Survivors: {count(len(alive), 'fault')} that no probe sees"]
    for one in alive:
        mark = " (**must** be killed)" if one.must else ""
        parts.append(f"**{markdown_cell(one.name)}**{mark}: {markdown_cell(one.fault)}")
        parts.append("\n".join(f"- {label} {markdown_cell(said)}" for label, said in one.points))
        parts.append(fenced(one.skeleton) if one.skeleton else "")
    return parts


def fenced(source: str) -> str:
    """Set a probe file as a block of code that nothing in it can end.

    Examples
    --------
    >>> print(fenced("- name: lunch"))
    ```yaml
    - name: lunch
    ```
    """
    lines = [visible(line) for line in source.split("\n")]
    longest = max((len(run) for line in lines for run in _ticks(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}yaml", *lines, fence])


def _ticks(line: str) -> list[str]:
    return "".join(char if char == "`" else " " for char in line).split()


def _score_markdown(mutation: Mutated) -> list[str]:
    thin = rows.thin_suite(mutation)
    points = [
        f"- must-kill: {markdown_cell(rows.must(mutation))}",
        f"- score: {rows.head(mutation)}; {markdown_cell(rows.asked(mutation))}",
        *([f"- but: {markdown_cell(thin)}"] if thin else []),
        f"- idle: {rows.idle_head(mutation)}",
    ]
    by, aside, cells = rows.killed_by(mutation), rows.asides(mutation), rows.kills(mutation)
    apart = [[one.name, one.state, one.reason] for one in aside]
    names, once = rows.idle(mutation), rows.thin(mutation)
    return [
        "\n".join(points),
        markdown_table(BY_HEAD, by, BY_SIDES) if by else "",
        markdown_table(["not counted", "", "why"], apart, "lll") if aside else "",
        markdown_table(rows.KILL_HEAD, cells, rows.KILL_SIDES) if cells else "",
        rows.KEY if cells else "",
        markdown_table(["killed by one probe alone", "probe"], once, "ll") if once else "",
        f"Probes that kill nothing: {markdown_cell(names)}" if names else "",
    ]


def saboteurs_text(saboteurs: list[tuple[str, str, str]]) -> str:
    """The saboteurs that there are: name, fault and tag of the probes that can kill them.

    Examples
    --------
    >>> print(saboteurs_text([("null", "returns nothing", "direct")]).splitlines()[-1])
    null                     returns nothing                          direct
    """
    return table(LIST_HEAD, saboteurs, LIST_WIDTHS)


def saboteurs_markdown(saboteurs: list[tuple[str, str, str]]) -> str:
    """The same as a table of Markdown."""
    return markdown_table(LIST_HEAD, saboteurs, "lll")
