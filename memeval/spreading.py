"""Work in pieces, spread over worker processes: of this machine, or of a Dask cluster.

Which ones is joblib's word: its processes, unless ``joblib.parallel_config(backend="dask")`` holds.
On a cluster the pieces go to its scheduler straight: joblib hands them on as well, but waits for
ever for a piece that the cluster gave up, since it has no call for that.
"""

from __future__ import annotations

import importlib
import os
import secrets
import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from memeval.errors import MemevalError

__all__ = ["Origin", "joblib_of", "spread"]

_LOADED = secrets.token_hex(8)
# Seconds between two looks at a cluster that says nothing, and until one without workers is left.
_LOOK_S, PATIENCE_S = 1.0, 60.0


@dataclass(frozen=True, slots=True)
class Origin:
    """The process that sends work, for workers that began before it came to where it is.

    Attributes
    ----------
    process : str
        Its name.
    folder, paths : str, tuple of str
        Where it works, and where it finds modules.

    Examples
    --------
    >>> Origin.here().is_here
    True
    """

    process: str
    folder: str
    paths: tuple[str, ...]

    @classmethod
    def here(cls) -> Origin:
        """Of the process that asks."""
        return cls(_name(), os.path.abspath(os.curdir), tuple(sys.path))

    @property
    def is_here(self) -> bool:
        """Whether this is the process."""
        return self.process == _name()

    def follow(self) -> None:
        """Work in its folder and find its modules, as far as this machine has them."""
        if not self.is_here:
            sys.path += [path for path in self.paths if path not in sys.path]
            if os.path.isdir(self.folder):  # a worker of a cluster may be on another machine
                os.chdir(self.folder)


def _name() -> str:
    """Name of this process; those of two machines may have one number."""
    return f"{os.getpid()}-{_LOADED}"


def joblib_of(jobs: int) -> Any:
    """Import joblib.

    Raises
    ------
    MemevalError
        If it is not installed.
    """
    try:
        return importlib.import_module("joblib")
    except ImportError as error:
        raise MemevalError(
            f"jobs is {jobs}, and joblib cannot be imported ({error}), wanted joblib 1.4 or later; "
            "pip install 'memeval-toolkit[distributed]' (in a checkout: pip install -e "
            "'.[distributed]'), or leave jobs out"
        ) from error


def spread(
    joblib: Any, jobs: int, function: Callable[..., Any], shared: Any, pieces: Iterable[Any]
) -> Generator[Any, None, None]:
    """Call a function on each piece in worker processes; results in the order of being done.

    Parameters
    ----------
    joblib : module
        ``joblib``.
    jobs : int
        Worker processes; a cluster uses all that it has.
    function : callable
        Takes `shared` and a piece. It may be called twice on a piece where a worker of a cluster
        dies, and its result is given once.
    shared : object
        What all calls get: sent to a cluster once.
    pieces : iterable
        The pieces.

    Yields
    ------
    object
        What `function` returns.

    Raises
    ------
    concurrent.futures.BrokenExecutor
        If a worker process has died; on a cluster if a piece killed as many workers as it allows,
        all workers are gone and none comes back for a minute, or the cluster itself is gone.
        Errors of `function` are raised as they are.

    Examples
    --------
    >>> import joblib
    >>> sorted(spread(joblib, 2, pow, 2, [1, 2, 3]))
    [2, 4, 8]
    """
    client = cluster(joblib)
    if client is not None:
        return _on_cluster(client, function, shared, pieces)
    return _by_joblib(joblib, jobs, function, shared, pieces)


def cluster(joblib: Any) -> Any:
    """Client of the Dask cluster that joblib is told to use; None without one."""
    backend, _ = joblib.parallel.get_active_backend(prefer="processes")
    return backend.client if type(backend).__name__ == "DaskDistributedBackend" else None


def _by_joblib(
    joblib: Any, jobs: int, function: Callable[..., Any], shared: Any, pieces: Iterable[Any]
) -> Generator[Any, None, None]:
    parallel = joblib.Parallel(
        n_jobs=jobs, prefer="processes", return_as="generator_unordered", batch_size=1
    )
    call = joblib.delayed(function)
    results = parallel(call(shared, piece) for piece in pieces)
    try:
        yield from results
    finally:
        with warnings.catch_warnings():
            # That what nobody waits for was not done need not be warned of.
            warnings.filterwarnings("ignore", category=UserWarning, module="joblib")
            results.close()


def _on_cluster(
    client: Any, function: Callable[..., Any], shared: Any, pieces: Iterable[Any]
) -> Generator[Any, None, None]:
    distributed = importlib.import_module("distributed")
    waiting = _sent(client, function, shared, pieces)
    ready: SimpleQueue[Any] = SimpleQueue()
    for future in waiting:
        future.add_done_callback(ready.put)
    try:
        while waiting:
            future = _next(ready, client)
            waiting.discard(future)  # so that its result is kept nowhere but here
            try:
                result = future.result()
            except (distributed.scheduler.KilledWorker, CancelledError) as error:
                raise BrokenExecutor(f"the cluster gave up: {error}") from error
            yield result
    finally:
        if client.status == "running":
            client.cancel(list(waiting))


def _next(ready: SimpleQueue[Any], client: Any) -> Any:
    """What is ready first.

    A cluster waits for ever for workers. They come back when they are restarted, but not all are:
    one that dies while it starts is given up.
    """
    alone_since = None
    while True:
        with suppress(Empty):
            return ready.get(timeout=_LOOK_S)
        if _n_threads(client):
            alone_since = None
        elif alone_since is None:
            alone_since = time.monotonic()
        elif time.monotonic() - alone_since > PATIENCE_S:
            raise BrokenExecutor(
                f"the cluster has had no worker for {PATIENCE_S:.0f} s; start some again"
            )


def _n_threads(client: Any) -> int:
    try:
        return sum(client.ncores().values())
    except OSError as error:
        raise BrokenExecutor(f"the cluster is gone: {error}") from error


def _sent(
    client: Any, function: Callable[..., Any], shared: Any, pieces: Iterable[Any]
) -> set[Any]:
    """Futures of all calls.

    What they share is the result of a task: what is scattered to a worker is lost with it.
    """
    with warnings.catch_warnings():
        # What all calls need is sent once, and there is no way around that.
        warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
        held = client.submit(_same, shared, pure=False)
        return {client.submit(function, held, piece, pure=False) for piece in pieces}


def _same(value: Any) -> Any:
    return value
