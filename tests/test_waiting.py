"""What a call to a store may come to: nothing that it raises ends the program or hangs it."""

from __future__ import annotations

import asyncio
from typing import Any

import odd_stores as odd
import pytest

from memeval.probe import Probe
from memeval.record import Record
from memeval.runner import run
from memeval.stores.waiting import StoreExitError, finish

NOODLES = Record("r1", "Noodles at the red bar.")
PROBES = [
    Probe("ends", "end of the noodles", [NOODLES], ["r1"]),
    Probe("goes-on", "red noodles", [NOODLES], ["r1"]),
]


class Own(BaseException):
    """What a library may derive from, such as a cancellation of its own."""


class Ending(odd.Plain):
    """Raises what ends a program, in place of an answer."""

    error: BaseException = SystemExit(0)

    def search(self, query: str, **options: Any) -> Any:
        if "end" in query:
            raise self.error
        return super().search(query, **options)


class EndingAsync(odd.Async):
    """The same on the loop thread."""

    async def search(self, query: str, **options: Any) -> Any:
        if "end" in query:
            raise SystemExit(0)
        return await super().search(query, **options)


def ending(error: BaseException) -> type[Ending]:
    return type("Ending", (Ending,), {"error": error})


@pytest.mark.parametrize("limit", [None, 5.0])
@pytest.mark.parametrize(
    "error", [SystemExit(0), GeneratorExit(), asyncio.CancelledError(), Own("gone")]
)
def test_a_search_that_asks_for_the_end_of_the_program_is_a_failed_search(
    error: BaseException, limit: float | None
) -> None:
    made = run(PROBES, ending(error), timeout_s=limit)
    assert list(made.results["status"]) == ["failed", "ok"]
    assert "asked for the end of the program" in made.calls["error"][0]
    assert made.verdict.exit_code == 1


def test_the_keyboard_still_ends_a_run() -> None:
    with pytest.raises(KeyboardInterrupt):
        run(PROBES, ending(KeyboardInterrupt()))


@pytest.mark.parametrize("limit", [None, 5.0])
def test_a_coroutine_that_asks_for_the_end_leaves_the_loop_running(limit: float | None) -> None:
    made = run(PROBES, EndingAsync, timeout_s=limit)
    assert list(made.results["status"]) == ["failed", "ok"]


def test_a_coroutine_that_stops_its_loop_does_not_stop_the_next_call() -> None:
    async def stop() -> str:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0)
        return "done"

    assert [finish(stop, (), 5.0) for _ in "ab"] == ["done", "done"]


def test_a_store_that_cannot_be_made_without_ending_the_program_is_a_store_error() -> None:
    def make() -> None:
        raise SystemExit(0)

    with pytest.raises(StoreExitError):
        finish(make, (), None)


def test_a_time_limit_beyond_what_a_thread_can_wait_is_no_limit() -> None:
    async def later() -> int:
        await asyncio.sleep(0.01)
        return 7

    assert finish(later, (), 1e308) == 7
