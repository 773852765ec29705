"""The one store that grows: where it stands, and whether what is asked of it can be taken back.

A store that can be forked grows in a fork, which nobody else sees, and is asked in a scratch of it.
One that has only a scratch grows within that, so that a place of the user's stays as it was; it is
asked in a scratch within the scratch where the store can do that, else as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

from memeval.errors import StoreError
from memeval.harness.desk import Desk
from memeval.harness.workspace import Workspace, explained
from memeval.simulating.ids import GrowingIds
from memeval.stores.bound import BoundStore, CallLimitError

KEY = "simulation"


@dataclass
class Ground:
    """A store that grows.

    Attributes
    ----------
    desk : Desk
        Where the growth is written.
    takes_back : bool
        Whether what is written, and learned from being asked, can be taken back.
    """

    desk: Desk
    takes_back: bool
    ids: GrowingIds = field(default_factory=GrowingIds)

    def __post_init__(self) -> None:
        self.desk.ids = self.ids

    @contextmanager
    def passing(self) -> Iterator[Desk]:
        """Desk on the same store, of which nothing stays where the store can take it back."""
        if not self.takes_back:
            yield self.desk
            return
        store = self.desk.store
        desk = Desk(store, self.desk.prefix, self.desk.opaque_ids)
        desk.ids = self.ids
        with self.ids.passing(), store.scratch():
            yield desk

    def refuse_hung(self) -> None:
        """Refuse to go on where a search that hangs keeps the store from taking back.

        Raises
        ------
        StoreError
            It names the limit.
        """
        store = self.desk.store
        if self.takes_back and store.hung:
            raise StoreError(
                f"a search reached its limit of {store.timeout_s:g} s and may still hold the "
                "store, so that nothing more can be written to it; wanted an answer in time; raise "
                "timeout_s (--timeout), or look why the store hangs"
            )


@contextmanager
def grounds(space: Workspace) -> Iterator[Ground]:
    """Open the store that grows; it is left as clean as it was found.

    Parameters
    ----------
    space : Workspace
        Of the store; it is closed with the ground.
    """
    with closing(space):
        fork = _forked(space) if space.isolation == "fork" else None
        if fork is not None:
            with closing(fork):
                fork.begin()
                yield Ground(Desk(fork, opaque_ids=space.opaque_ids), True)
            return
        with space.clean(KEY) as desk:
            yield Ground(desk, _takes_back(desk.store))


def _forked(space: Workspace) -> BoundStore | None:
    """A fork of its own, where the store gives forks that are like itself."""
    store = space.shared()
    if not (store.supports("snapshot") and store.supports("fork")):
        return None
    try:
        fork = store.forked(store.snapshot())
    except CallLimitError:
        raise
    except Exception:  # a store on disk may refuse, and has its scratch
        return None
    if type(fork.inner) is type(store.inner):
        return fork
    with explained("the store failed where it must not, in close()", "close() lets go of it"):
        fork.close()
    return None


def _takes_back(store: BoundStore) -> bool:
    """Whether a scratch can be opened here and now; within another one many cannot."""
    if not (store.supports("scratch") or (store.supports("snapshot") and store.supports("fork"))):
        return False
    try:
        with store.scratch():
            return True
    except CallLimitError:
        raise
    except Exception:  # it is asked as it is, which the manifest tells
        return False
