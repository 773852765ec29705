"""The second Ctrl-C, kept from taking what the first one has left."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def one_interrupt() -> Iterator[Callable[[], None]]:
    """Let Ctrl-C interrupt once, and no more after what is given has been called.

    Yields
    ------
    callable
        To be called before what must come to its end, such as the writing of a file.

    Notes
    -----
    It does nothing off the main thread, and where Ctrl-C does not raise ``KeyboardInterrupt``.
    """
    held = False

    def hold() -> None:
        nonlocal held
        held = True

    def once(number: int, frame: FrameType | None) -> None:
        if not held:
            hold()
            raise KeyboardInterrupt

    on_main = threading.current_thread() is threading.main_thread()
    if not on_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield hold
        return
    signal.signal(signal.SIGINT, once)
    try:
        yield hold
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
