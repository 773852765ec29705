"""A short name for how a store answers: it moves when the store does, whatever the store says.

A hosted service, a model behind a name or an index may change without any setting being touched.
Twenty fixed records are put into a clean store and each is looked up by its own text; the hash of
the ranked answers is kept with every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from memeval.harness.asking import Options
from memeval.harness.desk import Desk
from memeval.harness.selfcheck import SelfCheck
from memeval.harness.workspace import SLOW_PUT_MS, Workspace
from memeval.hashes import digest
from memeval.record import Hit, Record
from memeval.stores.bound import BoundStore, View

__all__ = ["RECORDS", "Fingerprint", "fingerprint", "fingerprinted"]

VERSION = 1
K = 5
SLOW_SEARCH_MS = 20.0
SCOPE = "memeval-fingerprint"
# Each record shares words, a topic or a template with others, so that the ranks below the first
# tell how a store weighs these.
_TEXTS = (
    "Marta parks her blue van behind the bakery on Elm Street.",
    "Marta parks her red van behind the library on Elm Street.",
    "The van is due for its inspection on 14 March.",
    "The boiler is due for its inspection on 9 October.",
    "Jonas is allergic to walnuts and carries a pen for it.",
    "Jonas is not allergic to peanuts, the test was negative.",
    "For lunch Jonas likes the soup at the station.",
    "The bakery on Elm Street closes at noon on Mondays.",
    "The library lends telescopes to members for two weeks.",
    "Her telescope stands on the balcony facing south.",
    "The balcony door sticks when it rains.",
    "It rained on the second day of the trip to Bergen.",
    "Flights to Bergen leave at 06:45 from gate B12.",
    "Invoice 4471 was paid twice and one half came back.",
    "Invoice 4417 is still open, ask Priya in accounting.",
    "Priya prefers a short message to a call before ten.",
    "The wifi password is on the card under the router.",
    "Der Hausmeister kommt jeden zweiten Dienstag.",
    "La réunion du jeudi commence à neuf heures.",
    "Every second Tuesday the caretaker checks the boiler.",
)
_FROM = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
RECORDS = tuple(
    Record(f"fingerprint-{n:02}", text, SCOPE, _FROM + timedelta(minutes=7 * n))
    for n, text in enumerate(_TEXTS, start=1)
)


class Fingerprint(NamedTuple):
    """The fingerprint of a store, or why there is none.

    Attributes
    ----------
    value : str or None
        As `fingerprint` gives it.
    cause : str
        Why there is none; without any figure, since it is kept in files that are compared.
    equal : bool or None
        Whether two clean stores gave the same; None where one was asked.
    """

    value: str | None = None
    cause: str = ""
    equal: bool | None = None


def fingerprint(store: Any) -> str:
    """Hash the ranked answers of a clean store to 20 fixed queries over 20 fixed records.

    Parameters
    ----------
    store : object
        An empty store with `put` and `search`; the records stay in it.

    Returns
    -------
    str
        Version of the records and queries, a hyphen, and 16 hexadecimal digits of SHA-256. Equal
        in every process and under any name of the scope, where the answers are.

    Raises
    ------
    Exception
        Whatever the store raises.

    Examples
    --------
    >>> from memeval.stores.sqlite import SqliteStore
    >>> fingerprint(SqliteStore()) == fingerprint(SqliteStore())
    True
    >>> fingerprint(SqliteStore()) == fingerprint(SqliteStore(stem=False))
    False
    """
    return _of(Desk(store if isinstance(store, BoundStore) else BoundStore(store)))


def fingerprinted(space: Workspace, checked: SelfCheck, options: Options) -> Fingerprint:
    """Take the fingerprint of the store of a run, where that costs next to nothing.

    A store that does not declare itself deterministic is asked in two clean stores: an index that
    is built anew each time may answer otherwise each time, which a second search never shows.

    Parameters
    ----------
    space : Workspace
        Gives the clean store, and takes away again what is written.
    checked : SelfCheck
        What is known of the store.
    options : Options
        How the run asks.

    Returns
    -------
    Fingerprint
        Without a value where it would cost too much or say nothing.
    """
    cause = next(_against(checked, options), "")
    if cause:
        return Fingerprint(cause=cause)
    first = _taken(space, 0)
    if first.value is None or checked.capabilities.deterministic:
        return first
    if _taken(space, 1).value == first.value:
        return first._replace(equal=True)
    return Fingerprint(cause="two clean stores answer otherwise", equal=False)


def _taken(space: Workspace, nth: int) -> Fingerprint:
    with space.clean(f"fingerprint {nth}") as desk:
        if desk.store.meter.limit is not None:
            return Fingerprint(cause="the calls to the store are limited")
        if desk.store.llm_calls() is not None:
            return Fingerprint(cause="the store calls a model")
        if space.isolation == "namespace" and not desk.store.supports("delete"):
            return Fingerprint(cause="the store cannot delete what would be written")
        try:
            return Fingerprint(_of(desk))
        except Exception as error:  # the probes will show what a store like this is worth
            return Fingerprint(cause=f"the store failed with {type(error).__name__}")


def _against(checked: SelfCheck, options: Options) -> Iterator[str]:
    """What is known beforehand that stands against it."""
    if not checked.search_ms:
        yield "the store was not checked"
    if checked.put_ms > SLOW_PUT_MS:
        yield f"a write takes more than {SLOW_PUT_MS:g} ms"
    if checked.search_ms > SLOW_SEARCH_MS:
        yield f"a search takes more than {SLOW_SEARCH_MS:g} ms"
    if checked.capabilities.deterministic is False:
        yield "the store declares that its answers differ"
    if checked.capabilities.consistency == "eventual":
        yield "what is written can be found later only"
    if options.allow_nonempty:
        yield "the store may hold other records"


def _of(desk: Desk) -> str:
    desk.write_all(RECORDS)
    scope = desk.scope_alias(SCOPE)
    answers = [
        [_named(desk, hit) for hit in desk.store.search(View(record.text, K, scope))]
        for record in RECORDS
    ]
    desk.give_back()
    return f"{VERSION}-{digest(answers)}"


def _named(desk: Desk, hit: Hit) -> str | None:
    """Our own id of a hit; None for a record that nobody wrote, whose id may be drawn anew."""
    return desk.ids.resolve(hit)[0]
