"""Finding what ships with memeval: probes and notebooks.

In an installed wheel they lie inside the package, in a checkout beside it. Looking for them
imports nothing and reads no file.
"""

from __future__ import annotations

from pathlib import Path

from memeval.errors import MemevalError

PACKAGE = Path(__file__).resolve().parent


def probes_folder() -> Path:
    """Folder of the shipped probes.

    Returns
    -------
    pathlib.Path
        A folder that exists.

    Raises
    ------
    MemevalError
        If neither the package nor the checkout around it holds one.

    Examples
    --------
    >>> probes_folder().name
    'probes'
    """
    return _folder("probes")


def notebooks_folder() -> Path:
    """Folder of the shipped notebooks.

    Returns
    -------
    pathlib.Path
        A folder that exists.

    Raises
    ------
    MemevalError
        If neither the package nor the checkout around it holds one.

    Examples
    --------
    >>> notebooks_folder().name
    'notebooks'
    """
    return _folder("notebooks")


def haystack_file() -> Path:
    """File of the shipped haystack, ``haystack.yaml`` among the shipped probes.

    Returns
    -------
    pathlib.Path
        A file that exists.

    Raises
    ------
    MemevalError
        If it is not there.
    """
    path = probes_folder() / "haystack.yaml"
    if path.is_file():
        return path
    raise MemevalError(
        f"found no {path}, wanted the shipped haystack; reinstall memeval, or write "
        "'haystack: none' into one of your probe files to do without background records"
    )


def _folder(name: str) -> Path:
    """The folder inside the package, else beside it.

    Beside a package that is installed lie other people's packages, one of which may be called
    ``probes``; so only a checkout is looked at.
    """
    inside, beside = PACKAGE / "_shipped" / name, PACKAGE.parent / name
    if inside.is_dir():
        return inside
    if beside.is_dir() and PACKAGE.parent.name not in {"site-packages", "dist-packages"}:
        return beside
    raise MemevalError(
        f"found neither {inside} nor {beside}, wanted the shipped {name}; reinstall memeval, or "
        f"name your own {name} folder"
    )
