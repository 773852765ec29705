"""Workers that are threads, on the one store that they share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from memeval.harness.chunks import Chunks, Done, Failed, ask_chunk, chunks, end, unpacked
from memeval.harness.histories import Work
from memeval.harness.recording import Recording
from memeval.harness.snapshots import Shelf
from memeval.harness.workspace import Workspace
from memeval.stores.bound import BoundStore, Meter

COUNTER_SHARED = (
    "model calls not measured: {jobs} threads share one store, and its counter cannot tell whose "
    "a call was"
)


class Share(Meter):
    """The calls of one thread: counted apart, limited together."""

    def __init__(self, whole: Meter, all_of_them: list[Meter], lock: threading.Lock) -> None:
        super().__init__(whole.limit)
        self._all, self._lock = all_of_them, lock

    def count(self, puts: int = 0, searches: int = 0) -> None:
        """Add calls; raise StoreError where all threads together are past the limit."""
        with self._lock:
            self.puts += puts
            self.searches += searches
            made = sum(meter.puts + meter.searches for meter in self._all)
        if self.limit is not None and made > self.limit:
            raise self.past(made)


class Beside(BoundStore):
    """One thread's face of a store that other threads use too."""

    def llm_calls(self) -> int | None:
        """None: what the store counts are the calls of all."""
        return None


@dataclass(frozen=True, slots=True)
class Lane:
    """What one thread has for itself."""

    space: Workspace
    meter: Meter


class Lanes:
    """As many lanes as threads are working at once.

    Parameters
    ----------
    work : Work
        What to ask.
    space : Workspace
        Whose store is shared.
    """

    def __init__(self, work: Work, space: Workspace, meter: Meter) -> None:
        self.work, self.space = work, space
        self.all: list[Lane] = []
        self._meters = [meter]
        self._free: list[Lane] = []
        self._lock = threading.Lock()
        self._state = threading.Condition()
        self._working = 0
        self._ended = False
        self.shared = space.shared()

    def work_on(self, chunk: range, repeats: range) -> Done | Failed | None:
        """Ask a chunk in a lane of its own; None where nobody waits for it any more."""
        with self._state:
            if self._ended:
                return None
            self._working += 1
            lane = self._free.pop() if self._free else self._new()
        try:
            before = lane.meter.copy()
            done = ask_chunk(self.work, chunk, repeats, lane.space, None)
            done.meter = lane.meter.since(before)
            return done
        except Exception as error:  # raised again where the outcomes are read
            return Failed.of(error)
        finally:
            with self._state:
                self._free.append(lane)
                self._working -= 1
                self._state.notify_all()

    def _new(self) -> Lane:
        meter = Share(self._meters[0], self._meters, self._lock)
        lane = Lane(self.space.beside(self._another(meter), own_face(self.shared, meter)), meter)
        self._meters.append(meter)
        self.all.append(lane)
        return lane

    def _another(self, meter: Meter) -> Callable[[], BoundStore]:
        """What gives another store, in place of one that hangs."""
        return lambda: own_face(self.space.make(), meter)

    def end(self) -> None:
        """Begin no further chunk, and wait for those that are being asked: they tidy up."""
        with self._state:
            self._ended = True
            self._state.wait_for(lambda: not self._working)
        for lane in self.all:
            lane.space.close()


def own_face(shared: BoundStore, meter: Meter) -> BoundStore:
    """The same store, with times and errors of its own."""
    if isinstance(shared, Recording):
        return shared.beside(meter)
    return Beside(
        shared.inner,
        retrieve=shared.retrieve,
        timeout_s=shared.timeout_s,
        retries=shared.retries,
        meter=meter,
    )


class Threads:
    """Workers that are threads.

    Parameters
    ----------
    joblib : module
        ``joblib``.
    jobs : int
        How many.
    work : Work
        What to ask.
    meter : Meter
        Where calls are counted, and what limits them.
    """

    def __init__(self, joblib: Any, jobs: int, work: Work, meter: Meter) -> None:
        self.jobs = jobs
        self._joblib, self._work, self._meter = joblib, work, meter
        self._counts = False

    def asked(self, repeats: range, space: Workspace, shelf: Shelf | None) -> Chunks:
        """Ask every history as often as told; histories in the order in which they are done."""
        lanes = Lanes(self._work, space, self._meter)
        self._counts = lanes.shared.llm_calls() is not None
        parallel = self._joblib.Parallel(
            n_jobs=self.jobs, require="sharedmem", return_as="generator_unordered", batch_size=1
        )
        n = len(self._work.histories)
        ask = self._joblib.delayed(lanes.work_on)
        outcomes = parallel(ask(chunk, repeats) for chunk in chunks(n, n))
        try:
            yield from unpacked(outcomes)
        finally:
            lanes.end()
            end(outcomes)
            for lane in lanes.all:
                self._meter.add(lane.meter)
                space.take_over(lane.space)

    def notes(self) -> Iterator[str]:
        """What cannot be told apart in a store that is shared."""
        if self._counts:
            yield COUNTER_SHARED.format(jobs=self.jobs)
