"""Running a notebook in a kernel of this Python, on no network, and leaving nothing behind.

The kernel is driven from a thread with an event loop of its own, so that it works where one runs
already, such as in Jupyter; progress is told on the thread of the caller, which Ctrl-C reaches.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from memeval.errors import MemevalError, said
from memeval.report.exporting.shipped import section_of

Progress = Callable[[int, int, str], None]
KERNEL = "python3"
TAIL = 2000
UNSENT = re.compile(r"codec can't encode character.*: surrogates not allowed")
SURROGATES = (
    " (it may hide the error of the cell, whose message the kernel cannot send where it holds half "
    "a character)"
)
LONGEST_PLACE = 80  # the path of a socket has room for 107 bytes, 103 on some systems
# Figures of twice as many points, for phones and for print.
SHARP = "--InlineBackend.figure_format=retina"


@dataclass(frozen=True, slots=True)
class Stopped:
    """Where and why a notebook came to no end.

    Attributes
    ----------
    kind : {"failed", "died", "timeout", "interrupted"}
        A cell raised, the kernel died, a cell took too long, or someone pressed Ctrl-C.
    cell : int
        Place of the cell in the notebook, from 0.
    n_run : int
        How many code cells had been run to their end.
    n_cells : int
        How many code cells there are.
    name : str
        Of the error, or what happened.
    message : str
        What the error says, or what to do.
    """

    kind: str
    cell: int
    n_run: int
    n_cells: int
    name: str
    message: str


def run_cells(
    notebook: Any,
    *,
    folder: Path,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> Stopped | None:
    """Run all code cells of a notebook; their outputs are put into it.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        It is changed.
    folder : pathlib.Path
        Working directory of the kernel.
    timeout : float, optional
        Most seconds for one cell, above 0; fractions count.
    progress : callable, optional
        Called with cells done, cells in all and the heading above, as each cell begins and at the
        end.

    Returns
    -------
    Stopped or None
        None where all cells were run.

    Raises
    ------
    MemevalError
        If the kernel does not start.
    """
    with tempfile.TemporaryDirectory(prefix="memeval-nb-") as place:
        session = _Session(notebook, Path(place), timeout)
        thread = threading.Thread(target=session.run, args=(folder,), name="memeval-notebook")
        thread.start()
        try:
            while (event := session.events.get()) is not None:
                if progress is not None:
                    progress(*event)
            thread.join()
        except BaseException as error:  # also what progress raises: the kernel ends first
            session.stop()
            thread.join()
            if not isinstance(error, KeyboardInterrupt):
                raise
        return session.outcome()


class _Session:
    """One run of one notebook; all but `stop` happens on its own thread."""

    def __init__(self, notebook: Any, place: Path, timeout: float | None) -> None:
        from memeval.report.exporting.client import Client

        self.cells = notebook.cells
        self.events: SimpleQueue[tuple[int, int, str] | None] = SimpleQueue()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.task: asyncio.Task[Any] | None = None
        self.begun = threading.Event()
        self.interrupted = False
        self.error: BaseException | None = None
        self.at = -1
        self.n_run = 0
        self.errors = place / "stderr.txt"
        self.code = [n for n, cell in enumerate(notebook.cells) if _is_run(cell)]
        self.timeout = timeout
        self.client = Client(
            notebook,
            kernel_name=KERNEL,
            # its own trait of that name takes whole seconds alone
            timeout_func=None if timeout is None else lambda cell: timeout,
            extra_arguments=[SHARP],
            on_cell_execute=self._begins,
            on_cell_executed=self._ends,
            config=_config(place),
        )

    def run(self, folder: Path) -> None:
        """Run all cells; what goes wrong is kept."""
        try:
            asyncio.run(self._execute(folder))
        except BaseException as error:  # it is judged on the thread of the caller
            self.error = error
        finally:
            self.begun.set()
            self.events.put(None)

    async def _execute(self, folder: Path) -> None:
        self.loop, self.task = asyncio.get_running_loop(), asyncio.current_task()
        self.begun.set()
        with self.errors.open("wb") as errors:
            await self.client.async_execute(
                cwd=str(folder), env=_environment(), stderr=errors.fileno()
            )

    def stop(self) -> None:
        """End the kernel at once, from another thread."""
        self.interrupted = True
        self.client.shutdown_kernel = "immediate"
        self.begun.wait()
        if self.loop is not None and self.task is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.task.cancel)

    def _begins(self, cell: Any, cell_index: int) -> None:
        self.at = cell_index
        self._tell(cell_index)

    def _ends(self, cell: Any, cell_index: int, execute_reply: Any) -> None:
        self.n_run += 1
        if self.n_run == len(self.code):
            self._tell(cell_index)

    def _tell(self, at: int) -> None:
        above = [heading for cell in self.cells[: at + 1] for heading in section_of(cell)]
        self.events.put((self.n_run, len(self.code), above[-1] if above else ""))

    def outcome(self) -> Stopped | None:
        """Say how it ended.

        Raises
        ------
        MemevalError
            If it never began.
        """
        from nbclient.exceptions import CellExecutionError, CellTimeoutError

        error = self.error
        if self.interrupted:
            return self._stopped("interrupted", "Interrupted", "stopped by the keyboard")
        if error is None:
            return None
        if isinstance(error, CellExecutionError):
            self.n_run -= 1  # a cell that fails ends too
            hint = SURROGATES if UNSENT.search(error.evalue) else ""
            return self._stopped("failed", error.ename, f"{error.evalue}{hint}")
        if isinstance(error, CellTimeoutError):
            limit = f"this cell took longer than {self.timeout:g} s"
            return self._stopped("timeout", "Timeout", f"{limit}; give it more, or ask for less")
        if self.at < 0:
            raise MemevalError(
                f"the kernel {KERNEL!r} did not start ({said(error)}){self._last_words()}; check "
                "that 'python -m ipykernel --version' works with this Python"
            ) from error
        if not isinstance(error, RuntimeError):
            raise error
        hint = f"the process behind the notebook ended{self._last_words()}"
        return self._stopped("died", "The kernel died", hint)

    def _stopped(self, kind: str, name: str, message: str) -> Stopped:
        return Stopped(kind, max(self.at, 0), self.n_run, len(self.code), name, message)

    def _last_words(self) -> str:
        """What the kernel wrote before it ended, if anything."""
        there = self.errors.read_text("utf-8", "replace").strip() if self.errors.exists() else ""
        return f", and said last: {there[-TAIL:]}" if there else ""


def _is_run(cell: Any) -> bool:
    return bool(cell.cell_type == "code" and cell.source.strip())


def _config(place: Path) -> Any:
    """The kernel is of this very Python, and speaks through files where it can: no port."""
    from traitlets.config import Config

    config = Config({"KernelSpecManager": {"kernel_dirs": []}})
    if os.name == "posix" and len(str(place)) <= LONGEST_PLACE:
        config.KernelManager.transport = "ipc"
        # without ip the files of the sockets are named relative to the working folder
        config.KernelManager.ip = str(place / "kernel")
    config.KernelManager.connection_file = str(place / "kernel.json")
    return config


def _environment() -> dict[str, str]:
    """Environment of the kernel: a backend chosen for scripts would keep figures out of cells."""
    return {key: value for key, value in os.environ.items() if key != "MPLBACKEND"}
