"""What this run was made with: versions, platform, commit; never a secret."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

NAME = "memeval-toolkit"
PACKAGES = (
    "numpy",
    "pandas",
    "pyyaml",
    "scipy",
    "matplotlib",
    "seaborn",
    "jinja2",
    "ipywidgets",
    "jupyterlab",
    "nbclient",
    "nbconvert",
)


def tool_version() -> str:
    """Version of memeval; ``0+unknown`` where it is not installed."""
    return package_version(NAME) or "0+unknown"


def package_version(name: str) -> str | None:
    """Version of an installed package, None where it is absent."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def environment() -> dict[str, object]:
    """Plain values for the manifest and for a bug report.

    Returns
    -------
    dict
        ``python``, ``platform``, ``cpus``, ``packages`` (name to version), ``commit`` and
        ``dirty`` (None outside a git repository).

    Examples
    --------
    >>> sorted(environment())
    ['commit', 'cpus', 'dirty', 'packages', 'platform', 'python']
    """
    commit = _git("rev-parse", "HEAD")
    changed = _git("status", "--porcelain") if commit else None
    return {
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "packages": {name: found for name in PACKAGES if (found := package_version(name))},
        "commit": commit,
        "dirty": None if changed is None else bool(changed),
    }


def _git(*arguments: str) -> str | None:
    """Output of one git command in the working directory; None where there is no repository."""
    try:
        done = subprocess.run(
            ["git", *arguments],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=10,
            check=False,
            cwd=Path.cwd(),
        )
    except (OSError, subprocess.TimeoutExpired):  # no git here, or one that hangs
        return None
    return done.stdout.strip() if done.returncode == 0 else None
