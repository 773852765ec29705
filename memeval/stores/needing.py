"""Packages of others that an adapter needs: imported when a store of that kind is made."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from memeval.errors import StoreError, said


def needed(module: str, *, store: str, extra: str, environ: Mapping[str, str] | None = None) -> Any:
    """Import a package of an extra, or say which one to install.

    Parameters
    ----------
    module : str
        What to import.
    store : str
        Short name of the store that needs it.
    extra : str
        The extra of memeval that brings it.
    environ : mapping of str to str, optional
        Set before the import, such as what keeps a package off the network; what is set already
        stays as it is.

    Raises
    ------
    StoreError
        If it cannot be imported.

    Examples
    --------
    >>> needed("json", store="mine", extra="mine").__name__
    'json'
    """
    for name, value in (environ or {}).items():
        os.environ.setdefault(name, value)
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise StoreError(
            f"store {store!r}: tried to import {module}, and it failed ({said(error)}); pip "
            f"install 'memeval-toolkit[{extra}]' (in a checkout: pip install -e '.[{extra}]')"
        ) from error


def version_of(*distributions: str) -> str:
    """Names and versions of installed distributions, for the manifest.

    Examples
    --------
    >>> version_of("no-such-distribution")
    'no-such-distribution ?'
    """
    return ", ".join(f"{name} {_version(name)}" for name in distributions)


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:  # imported from somewhere else than where pip puts it
        return "?"
