"""Files that are whole or not there: written beside their place, then moved into it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from memeval.errors import MemevalError


def write_whole(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text file as UTF-8 with LF ends; what was there stays until the new one is whole.

    A link is followed: what it points to is written. A pipe or a device stays what it is, and gets
    the text.

    Parameters
    ----------
    path : str or path-like
        Where to; the folder must exist.
    text : str
        What to write.

    Returns
    -------
    Path
        The absolute path.

    Raises
    ------
    MemevalError
        If it cannot be written there; an older file is untouched.
    """
    temporary = None
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "w", encoding="utf-8", newline="\n") as place:
                place.write(text)
            return Path(path).absolute()
        target = Path(os.path.realpath(path))
        with tempfile.NamedTemporaryFile(
            "w",
            encoding="utf-8",
            newline="\n",
            dir=target.parent,
            prefix=".memeval-",
            delete=False,
        ) as file:
            temporary = file.name
            file.write(text)
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
        temporary = None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise MemevalError(
            f"cannot write {path} ({reason or error}); wanted a place in a folder that "
            "exists and may be written to, and text that UTF-8 can hold; name another file"
        ) from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
    return Path(path).absolute()


def _mode(target: Path) -> int:
    """Mode of the file that is replaced; for a new one what the umask allows."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
