"""What this run was made with: versions, platform, machine, commit; never a secret."""

from __future__ import annotations

import functools
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
# What a hit is recognised by, in order; and a number that goes up whenever two texts become alike,
# or cease to be. Runs of different values are not compared.
MATCHER = "id, metadata, receipt, text, normalised text"
NORMALISER_VERSION = 1
# What memeval writes is no change of what is measured.
_OUR_FILES = tuple(
    f":(top,exclude,glob)**/{name}"
    for name in ("eval-results*.json", "memeval-report*", ".memeval/**")
)
_CPUINFO = Path("/proc/cpuinfo")
_CPU_NAMES = ("model name", "Processor", "cpu model", "Hardware", "cpu")


def tool_version() -> str:
    """Version of memeval; ``0+unknown`` where it is not installed."""
    return package_version(NAME) or "0+unknown"


@functools.cache  # what is installed does not change under a program, and a look takes milliseconds
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
        ``python``, ``platform``, ``cpu`` (model), ``cpus`` (logical cores), ``load`` (mean number
        of programs that ran or waited in the last minute, None where the system does not tell),
        ``packages`` (name to version), ``commit`` and ``dirty`` (None outside a git repository).

    Examples
    --------
    >>> sorted(environment())
    ['commit', 'cpu', 'cpus', 'dirty', 'load', 'packages', 'platform', 'python']
    """
    commit = _git("rev-parse", "HEAD")
    changed = _git("status", "--porcelain", "--", ":/", *_OUR_FILES) if commit else None
    return {
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "cpu": _cpu(),
        "cpus": os.cpu_count(),
        "load": load(),
        "packages": {name: found for name in PACKAGES if (found := package_version(name))},
        "commit": commit,
        "dirty": None if changed is None else bool(changed),
    }


def load() -> float | None:
    """Load of the machine over the last minute; None where the system does not tell."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):  # Windows has none
        return None


def _cpu() -> str:
    """Model of the processor, as far as it is told; at least its architecture."""
    return _cpu_of(_read(_CPUINFO)) or platform.processor() or platform.machine()


def _cpu_of(cpuinfo: str) -> str:
    """Model in the words of /proc/cpuinfo, whose names differ by architecture."""
    told: dict[str, str] = {}
    for line in cpuinfo.splitlines():
        name, colon, value = line.partition(":")
        if colon and value.strip():
            told.setdefault(name.strip(), " ".join(value.split()))
    return next((told[name] for name in _CPU_NAMES if name in told), "")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # only Linux has it
        return ""


def _git(*arguments: str) -> str | None:
    """Output of one git command in the working directory; None where there is no repository.

    No program that watches files for the repository is started, and nothing is written to it.
    """
    try:
        done = subprocess.run(
            ["git", "--no-pager", "-c", "core.fsmonitor=false", *arguments],
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"},
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
