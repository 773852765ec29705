"""``memeval env``: versions and settings for a bug report, and no secret."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memeval.cli import options
from memeval.cli.console import show
from memeval.cli.forms import show_json
from memeval.config import load_config
from memeval.text import markdown_cell, visible

HELP = "versions and settings for a bug report"
DESCRIPTION = """\
Print versions and settings for a bug report. No environment variable, no secret
and no path of your home folder is in it."""
EXAMPLE = "memeval env --format json"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """Print what there is to know; always 0."""
    told = _told()
    if args.format == "json":
        show_json(told)
    elif args.format == "markdown":
        lines = [f"| {name} | {markdown_cell(value)} |" for name, value in told.items()]
        show("\n".join(["| what | value |", "| --- | --- |", *lines]))
    else:
        width = max(map(len, told))
        show("\n".join(f"{name:<{width}}  {visible(value)}" for name, value in told.items()))
    return 0


def _told() -> dict[str, str]:
    import sqlite3

    from memeval.environment import environment, tool_version

    found = environment()
    packages: Any = found["packages"]
    told = {
        "memeval": tool_version(),
        "python": found["python"],
        "platform": found["platform"],
        "cpus": found["cpus"],
        "sqlite": sqlite3.sqlite_version,
        "stdout": f"{sys.stdout.encoding}, {'' if sys.stdout.isatty() else 'no '}terminal",
        **packages,
        **{f"setting {name}": value for name, value in _settings().items()},
    }
    home = str(Path.home())
    return {name: str(value).replace(home, "~") for name, value in told.items()}


def _settings() -> Mapping[str, Any]:
    """Give the settings that differ from the default."""
    config = load_config()
    named = {
        "store": config.store,
        "probes": " ".join(config.probes),
        "seed": config.seed,
        "floors": dict(config.floors),
        "targets": dict(config.targets),
        "out": config.out,
        "html": config.html,
    }
    return {name: value for name, value in named.items() if value not in (None, "", {})}
