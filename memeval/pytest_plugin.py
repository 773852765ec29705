"""The pytest plugin ``memeval-probes``: every probe is a test, and so are the controls.

A probe file is collected only where ``[tool.memeval]`` of the project's pyproject.toml names it
(``probes``), or ``pytest --memeval PATH`` does. Without either nothing is imported and nothing
happens, however many YAML files there are.
"""

from __future__ import annotations

import shlex
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
        self.collected: set[Path] = set()
        self.untold: list[str] = []
        files = [str(path) for path in probing.files]
        self.by_hand = config.args_source is config.ArgsSource.ARGS
        if probing.named:  # files, not their folder: it may hold tests that nobody named
            kept = config.args if self.by_hand else []
            config.args[:] = [*kept, *(file for file in files if file not in kept)]

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> Any:
        """Collect the files that are named, and no other."""
        from memeval.pytest_items import ProbeFile

        path = file_path.resolve()
        if path in self.probing.files:
            self.collected.add(path)
            return ProbeFile.from_parent(parent, path=file_path, probing=self.probing)
        return None

    def pytest_collection_finish(self) -> None:
        """Warn of files that the settings name and pytest did not come by."""
        import warnings

        import pytest

        if self.by_hand or self.probing.named:
            return
        for path, name in self.probing.files.items():
            if path not in self.collected:
                words = (
                    f"probe file {name} is named by [tool.memeval] and was not collected: it is "
                    "outside the folders that pytest looks into (norecursedirs, testpaths, the "
                    f"working folder); run pytest --memeval {shlex.quote(name)}"
                )
                try:
                    warnings.warn(pytest.PytestWarning(words), stacklevel=1)
                except pytest.PytestWarning:  # an error here would stop the project's own tests
                    self.untold.append(words)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Tell what could not be a warning, where these are errors."""
        for words in self.untold:
            terminalreporter.write_line(f"memeval: {words}", yellow=True)

    def pytest_report_header(self) -> str:
        """Say which store is asked."""
        return f"memeval: store {self.probing.store_words}"
