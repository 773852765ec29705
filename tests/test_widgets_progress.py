"""Progress shows itself where somebody looks, and nowhere else."""

from __future__ import annotations

import io
import sys
import types
from typing import Any

import pytest

import memeval as me
from memeval.report.templating import environment
from memeval.widgets.progress import Progress, _Frame

EVIL = "<img src=x onerror=alert(1)> $x$ \ud800\x1b[31m"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Place:
    """What IPython gives for a display id: keeps every frame."""

    def __init__(self) -> None:
        self.frames: list[_Frame] = []

    def update(self, frame: _Frame) -> None:
        self.frames.append(frame)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Place:
    place = Place()
    monkeypatch.delenv("CI", raising=False)
    shell = types.SimpleNamespace(kernel=object())
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
    display = types.ModuleType("IPython.display")

    def shown(frame: _Frame, display_id: bool) -> Place:
        assert display_id
        place.update(frame)
        return place

    display.display = shown  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return place


def test_a_notebook_sees_a_bar_ten_times_a_second_and_one_sentence_at_the_end(
    notebook: Place,
) -> None:
    clock = Clock()
    with Progress("probe", clock) as progress:
        for done in range(1, 101):
            clock.now = done / 50  # two seconds, fifty steps a second
            progress(done, 100, EVIL)
    bars = [frame for frame in notebook.frames if frame.total]
    # The first at 0.02 s, then one each 0.1 s or at the first step after it.
    assert 15 <= len(bars) <= 20 and bars[0].done == 1
    assert notebook.frames[-1] == _Frame("100 probes in 2.0 s")
    html = bars[0]._repr_mimebundle_()["text/html"]
    assert '<progress value="1" max="100"' in html and "<img" not in html
    assert "mathjax_ignore" in html and "&lt;img" in html and "\ud800" not in html
    assert "<progress" not in notebook.frames[-1]._repr_mimebundle_()["text/html"]


def test_a_plain_callable_ends_by_itself_and_adds_up_its_stages(notebook: Place) -> None:
    clock = Clock()
    progress = Progress("probe", clock)
    for _ in range(3):
        for done in (1, 2):
            progress(done, 2, "lunch")
    assert notebook.frames[-1].words == "6 probes in 0.0 s"


def test_what_was_stopped_says_where(notebook: Place) -> None:
    with pytest.raises(KeyboardInterrupt), Progress("probe", Clock()) as progress:
        progress(3, 34, "lunch")
        raise KeyboardInterrupt
    assert notebook.frames[-1].words == "stopped at 3 of 34, 3 probes in 0.0 s"


def test_a_terminal_sees_a_line_that_is_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    stream: Any = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("probe", Clock()) as progress:
        progress(1, 2, EVIL)
    drawn = stream.getvalue()
    assert drawn.startswith("\r1 of 2 probes: <img") and "\x1b" not in drawn
    assert drawn.endswith("\r") and drawn.split("\r")[-2].strip() == ""


@pytest.mark.parametrize("ci", ["true", ""])
def test_nobody_is_told_under_a_ci_or_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ci: str
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    probe = me.Probe("lunch", "noodle bar", [me.Record("r1", "The noodle bar.")], ["r1"])
    with Progress("probe") as progress:
        me.run([probe], "sqlite", progress=progress)
    assert capsys.readouterr() == ("", "")
    assert progress.sentence.startswith("1 probe in ")


def test_its_template_escapes() -> None:
    assert environment().autoescape is True
