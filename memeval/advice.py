"""One next step in words for each cause of a failed probe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ORDER = (
    "leaks and broken contracts come first, since they fail the run; then probes marked must; then "
    "by cause, from records that never arrive to records that are outranked; then what is nearest "
    "to passing"
)
LEAKS: Mapping[str, str] = {
    "foreign_scope": "a record of another scope came back",
    "deleted": "a deleted record came back",
    "superseded": "a superseded record came back that the probe forbids",
    "listed": "a forbidden record came back",
    "canary": "a text that may appear nowhere came back",
}
_LEAKED: Mapping[str, str] = {
    "foreign_scope": "filter by scope inside the store, before ranking, and compare scopes whole",
    "deleted": "make delete reach every index that search reads, and check it by searching",
    "superseded": "leave out at search what a later record supersedes",
    "listed": "find out why the store takes this record for an answer; never trade a leak off",
    "canary": "look at what the store writes when it rewrites or merges: it mixes texts",
}
_STEPS: Mapping[str, str] = {
    "failed": "read the error, mend the store or the adapter, then ask this probe alone (--name)",
    "not_stored": "look at what put does with this record: it is lost before any search",
    "not_visible": "give the adapter wait_visible, or wait longer for writes (--settle)",
    "filtered": "compare scope and metadata as written with those that are asked for",
    "merged": "let the store keep both: it takes two facts for one",
    "stale_won": "tell the store what replaces what (supersedes), or let newer records win",
    "crowded_out": "collapse repeats of one fact before the answer is cut to k",
    "not_reproduced": "ask it several times (--repeats 5): the store does not always answer alike",
}


def next_step(cause: str, about: Mapping[str, Any]) -> str:
    """Say what to do about a cause.

    Parameters
    ----------
    cause : str
        One of `memeval.frames.CAUSE_WORDS`.
    about : mapping
        What was found: ``kind`` of a leak, a filter or a cut, ``needed`` k, ``floor``, ``lost`` and
        ``n`` of a negative probe, ``breaches``, and the ``probe``.

    Returns
    -------
    str
        One sentence, without a full stop.

    Examples
    --------
    >>> next_step("crowded_out", {})
    'collapse repeats of one fact before the answer is cut to k'
    >>> next_step("leaked", {"kind": "deleted"})
    'make delete reach every index that search reads, and check it by searching'
    """
    if cause in _STEPS and about.get("kind") != "filter":
        return _STEPS[cause]
    if cause == "filtered":
        return "compare the metadata as written with the filter that is asked for"
    if cause == "leaked":
        return _LEAKED[about["kind"]]
    if cause == "contract":
        return "mend the store, or declare what it does: see memeval.Capabilities"
    return {"cut": _cut, "outranked": _outranked, "did_not_abstain": _abstain}[cause](about)


def _cut(about: Mapping[str, Any]) -> str:
    if about.get("kind") == "meaning":
        return "match by meaning as well: no word of the query stands in the record"
    if about.get("kind") == "floor":
        return "lower the store's score floor, or match more loosely: what is asked stands there"
    return "let the store look at more candidates before it cuts to k, or lower its score floor"


def _outranked(about: Mapping[str, Any]) -> str:
    if about.get("needed"):
        return f"read what stands before it: rank it higher, or ask for k = {about['needed']}"
    return "read what stands before it: the ranking does not see that this record answers"


def _abstain(about: Mapping[str, Any]) -> str:
    if about.get("kind") == "bare":
        return "let the store return scores, so that a floor can tell an answer from none"
    lost, n = about["lost"], about["n"]
    if lost <= 0.1 * n:
        return f"set a score floor above {about['floor']:.4g}: it loses {lost} of {n} found"
    return "no score floor separates this one: judge whether an answer is there at all"
