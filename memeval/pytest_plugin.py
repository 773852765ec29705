"""The pytest plugin ``memeval-probes``: every probe is a test, and so are the controls.

A probe file is collected only where ``[tool.memeval]`` of the project's pyproject.toml names it
(``probes``), or ``pytest --memeval PATH`` does. Without either nothing is imported and nothing
happens, however many YAML files there are.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from memeval.pytest_items import Probing

_MARK = b"[tool.memeval"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("memeval", "probes of an agent's memory")
    group.addoption(
        "--memeval",
        action="append",
        default=[],
        metavar="PATH",
        help="probe file or folder to collect (repeatable); without other paths it alone is run",
    )
    group.addoption(
        "--memeval-store",
        metavar="NAME",
        help="short name or package.module:factory (default: store of [tool.memeval], else sqlite)",
    )
    group.addoption(
        "--memeval-no-diagnose",
        action="store_true",
        help="do not ask the store again to find out why a probe failed",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Find out whether any probe file is named; most projects end here."""
    config.addinivalue_line("markers", "memeval: a probe of an agent's memory, or its controls")
    named = config.getoption("memeval")
    if named or _is_set(config.rootpath / "pyproject.toml"):
        from memeval.pytest_items import Probing

        probing = Probing.of(config, named)
        if probing is not None:
            config.pluginmanager.register(Collecting(config, probing), "memeval-collecting")


def _is_set(path: Path) -> bool:
    try:
        return _MARK in path.read_bytes()
    except OSError:
        return False


class Collecting:
    """The hooks that only matter where probe files are named."""

    def __init__(self, config: pytest.Config, probing: Probing) -> None:
        self.probing = probing
        named = [str(path) for path in probing.named]
        if not named:
            return
        by_hand = config.args_source is config.ArgsSource.ARGS
        config.args[:] = [*(config.args if by_hand else ()), *named]

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> Any:
        """Collect the files that are named, and no other."""
        from memeval.pytest_items import ProbeFile

        if file_path.resolve() in self.probing.files:
            return ProbeFile.from_parent(parent, path=file_path, probing=self.probing)
        return None

    def pytest_report_header(self) -> str:
        """Say which store is asked."""
        return f"memeval: store {self.probing.store_words}"
