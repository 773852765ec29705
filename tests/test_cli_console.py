"""What reaches the two streams: progress, stand-ins, wrapping, warnings."""

from __future__ import annotations

import io
import sys
import warnings

import pytest

from memeval.cli import console
from memeval.cli.progress import Progress, progress
from memeval.errors import WeakSuiteWarning


class Clock:
    """A clock that stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_progress_is_drawn_at_most_ten_times_a_second_and_wiped() -> None:
    stream, clock = io.StringIO(), Clock()
    with Progress(stream=stream, clock=clock) as shown:
        for n in range(1, 101):  # one second in steps of 10 ms
            clock.now = n / 100
            shown(n, 100, f"probe-{n}")
    drawn = [part for part in stream.getvalue().split("\r") if part.strip()]
    assert 9 <= len(drawn) <= 10
    assert drawn[0].startswith("1/100 probe-1")
    *_, blank, end = stream.getvalue().split("\r")
    assert blank.strip() == "" and len(blank) >= len(drawn[-1].rstrip()) and end == ""


def test_a_shorter_line_covers_a_longer_one() -> None:
    stream, clock = io.StringIO(), Clock()
    with Progress(stream=stream, clock=clock) as shown:
        for n, label in enumerate(["a-very-long-name", "x"], 1):
            clock.now = n
            shown(n, 2, label)
    first, second = stream.getvalue().split("\r")[1:3]
    assert len(second) == len(first) and second.rstrip() == "2/2 x"


def test_a_count_that_starts_again_is_the_next_stage() -> None:
    stream, clock = io.StringIO(), Clock()
    with Progress(("your store", "null store"), stream, clock) as shown:
        for n, done in enumerate([1, 2, 1, 2], 1):
            clock.now = n
            shown(done, 2, "p")
    drawn = [part.split(" p")[0] for part in stream.getvalue().split("\r") if " p" in part]
    assert drawn == ["your store 1/2", "your store 2/2", "null store 1/2", "null store 2/2"]


def test_labels_do_nothing_to_the_terminal_and_fit_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    stream = io.StringIO()
    with Progress(stream=stream, clock=Clock()) as shown:
        shown(1, 1, "red\x1b[31m\n\u202e" + "x" * 200)
    line = stream.getvalue().split("\r")[1]
    assert "\x1b" not in line and "\n" not in line and len(line) < 50


def test_words_do_not_run_into_the_line_that_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    with Progress(stream=sys.stderr, clock=Clock()) as shown:
        shown(1, 2, "probe")
        console.say("a word")
    assert capsys.readouterr().err == "\r1/2 probe\r         \rmemeval: a word\n"


def test_off_a_terminal_nothing_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as shown:
        shown(1, 1, "probe")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("encoding", "wanted"),
    [("ascii", rb"a~ \u6728 >= \u20ac \ud83d"), ("cp1252", b"a\x85 \\u6728 >= \x80 \\ud83d")],
)
def test_what_a_console_cannot_show_gets_a_stand_in(encoding: str, wanted: bytes) -> None:
    console.make_safe()
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=console.ERRORS)
    stream.write("a… 木 ≥ € \ud83d")
    stream.flush()
    assert stream.buffer.getvalue() == wanted.replace(b">=", b">")


def test_a_warning_is_one_line_and_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    with console.warnings_in_one_line():
        for _ in range(2):
            warnings.warn("too\nthin\x1b[31m", WeakSuiteWarning, stacklevel=1)
    err = capsys.readouterr().err
    assert err == "memeval: warning: too thin␛[31m\n"


def test_wrapped_text_fits_and_keeps_what_cannot_be_broken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = "some/long/path.yaml:7: " + "word " * 30 + "u" * 70
    lines = console.wrapped(text).splitlines()
    assert all(len(line) <= 60 for line in lines[:-1]) and lines[-1] == "    " + "u" * 70
    assert all(line.startswith("    word") for line in lines[1:-1])


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_stream_that_is_closed_at_the_start_takes_nothing_and_stops_nothing(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, name, None)
    console.make_safe()
    with getattr(sys, name):
        console.say("words")
        with progress(quiet=False) as shown:
            shown(1, 2, "a")
        console.show("a table")
        captured = capsys.readouterr()
    assert captured.out == ("" if name == "stdout" else "a table\n")
    assert captured.err == ("" if name == "stderr" else "memeval: words\n")


def test_words_that_stderr_does_not_take_stop_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("sys.stderr", Full())
    console.say("words")
