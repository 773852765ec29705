"""Files that are only ever added to, a line at a time, by several at once."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memeval.errors import MemevalError

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP)
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)


def append_line(path: str | os.PathLike[str], line_of: Callable[[bytes], str]) -> bytes:
    """Add a line to a file and have it on the disk before this returns.

    Parameters
    ----------
    path : str or path-like
        A file, made where there is none; its folder must exist. What stands in it stays, byte by
        byte; a last line without an end is ended first.
    line_of : callable
        Gives the line, without its end, of what the file holds; what it raises is passed on, and
        nothing is written then.

    Returns
    -------
    bytes
        What the file holds now.

    Raises
    ------
    MemevalError
        If it cannot be read and written there.

    Notes
    -----
    The line goes in by one write at the end of the file, under a lock where the platform and the
    file system have one: of two that append at once, the second sees the line of the first.
    """
    try:
        place = os.open(path, _FLAGS, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(place).st_mode):
                raise OSError(errno.EINVAL, "it is no file on a disk")
            with _locked(place):
                return _append(place, line_of)
        finally:
            os.close(place)
    except (OSError, ValueError) as error:
        if isinstance(error, MemevalError):
            raise
        reason = error.strerror if isinstance(error, OSError) else None
        raise MemevalError(
            f"cannot add a line to {path} ({reason or error}); wanted a file, in a folder that "
            "exists, that may be read and written; name another one"
        ) from error


def _append(place: int, line_of: Callable[[bytes], str]) -> bytes:
    before = _whole(place)
    start = b"\n" if before and not before.endswith(b"\n") else b""
    added = start + line_of(before).encode("utf-8") + b"\n"
    if os.write(place, added) != len(added):
        raise OSError(errno.ENOSPC, "the line was written in part only")
    os.fsync(place)
    return before + added


def _whole(place: int) -> bytes:
    os.lseek(place, 0, os.SEEK_SET)
    pieces = iter(lambda: os.read(place, 1 << 20), b"")
    return b"".join(pieces)


@contextmanager
def _locked(place: int) -> Iterator[None]:
    """Keep others out, where there is a lock: without one, no line is lost either."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    yield  # closing the file gives the lock back
