"""A shelf for histories that were written once: a repeat or a control need not write them again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from memeval.errors import said
from memeval.harness.desk import Desk, Noted

MOST_BYTES = 64 * 2**20
BYTES_PER_RECORD = 1000  # What the map of its ids takes, roughly.


@dataclass(frozen=True, slots=True)
class Kept:
    """A history as it was written.

    Attributes
    ----------
    snapshot : bytes
        What the store held.
    noted : Noted
        What the desk knew of it.
    """

    snapshot: bytes
    noted: Noted

    @property
    def n_bytes(self) -> int:
        """Memory that it takes, roughly."""
        return len(self.snapshot) + BYTES_PER_RECORD * self.noted.n_written


class Shelf:
    """Histories as they were written, those not used for longest given up first.

    Share one among runs of one store only: what `info` tells of a store is part of the key, but
    not what it leaves out.

    Parameters
    ----------
    most_bytes : int
        How much to keep; 0 keeps nothing, so that every history is written each time.

    Attributes
    ----------
    n_bytes : int
        Memory taken, roughly.
    refused : str or None
        Why the store gave no snapshot, where it did not.

    Notes
    -----
    Used for stores that declare ``isolation="fork"`` and ``deterministic=True`` and have `snapshot`
    and `fork`: where writing is a matter of chance, a repeat is there to write again. A snapshot
    must be bytes, and a fork of the store's own type, so that neither shares anything with the
    store.

    Examples
    --------
    >>> import memeval as me
    >>> shelf = Shelf()
    >>> probe = me.Probe("lunch", "noodle bar", [me.Record("r1", "Lunch at the noodle bar.")])
    >>> runs = [me.run([probe], "sqlite", shelf=shelf) for _ in range(2)]
    >>> [bool(run.calls["write_ms"].isna()[0]) for run in runs]
    [False, True]
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self.n_bytes = 0
        self.refused: str | None = None
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()

    def find(self, key: Hashable) -> Kept | None:
        """Give what is kept under a key, None where nothing is."""
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def keep(self, key: Hashable, desk: Desk) -> None:
        """Keep what was written to a desk, where its store gives a snapshot of it."""
        if self.most_bytes <= 0 or self.refused is not None:
            return
        try:
            snapshot = desk.store.snapshot()
        except Exception as error:  # told in the manifest; the store is written to as before
            self.refused = said(error)
            return
        if not isinstance(snapshot, bytes):
            self.refused = f"it is a {type(snapshot).__name__}, not bytes"
            return
        self._add(key, Kept(snapshot, desk.noted))

    def _add(self, key: Hashable, kept: Kept) -> None:
        self.n_bytes += kept.n_bytes
        self._kept[key] = kept
        while self.n_bytes > self.most_bytes:
            _, oldest = self._kept.popitem(last=False)
            self.n_bytes -= oldest.n_bytes


@dataclass(frozen=True, slots=True)
class Place:
    """The place of one history on a shelf."""

    shelf: Shelf
    key: Hashable

    def find(self) -> Kept | None:
        """Give what is kept there."""
        return self.shelf.find(self.key)

    def keep(self, desk: Desk) -> None:
        """Keep what was written to a desk."""
        self.shelf.keep(self.key, desk)
