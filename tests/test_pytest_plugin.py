"""The pytest plugin: what it collects, what a failure says, and that it leaves others alone."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = "memeval.pytest_plugin"
INSTALLED = any(one.value == PLUGIN for one in entry_points(group="pytest11"))
GOOD = """\
- name: kiosk
  query: Where is soup?
  tags: [lunch]
  given: [{id: r1, text: The kiosk sells soup.}]
  expect: [r1]
- name: "van [31m<b>"
  query: zebra crossing
  given: [{id: r1, text: Marta parks the blue van.}]
  expect: [r1]
"""
OTHER = """\
- name: nobody-knows
  query: How tall is the lighthouse?
  given: [{id: r1, text: The bakery opens at six.}]
  expect: []
"""
SETTINGS = '[tool.memeval]\nprobes = ["probes"]\n'
STRANGE = {
    "data.yaml": "a: [1, 2",
    "probes.yaml": "- name: x\n  query: y\n",
    "tests/fixture.yml": "{{ not yaml",
    "docker-compose.yaml": "services: {}\n",
}


def project(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def pytest_in(folder: Path, *options: str) -> tuple[int, str]:
    named = () if INSTALLED else ("-p", PLUGIN)
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *named, "-p", "no:cacheprovider", *options],
        cwd=folder,
        env={**env, "PYTHONPATH": str(ROOT), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_plain_pytest_among_other_yaml_files_is_untouched(tmp_path: Path) -> None:
    here = "import sys\ndef test_it():\n    assert 'memeval.pytest_items' not in sys.modules\n"
    project(tmp_path, {**STRANGE, "test_own.py": here + "    assert 'yaml' not in sys.modules\n"})
    code, out = pytest_in(tmp_path, "-v", "-W", "error", "--strict-markers")
    assert code == 0 and "1 passed" in out, out
    assert "memeval: store" not in out and ".yaml" not in out


def test_settings_without_probes_collect_nothing(tmp_path: Path) -> None:
    own = "def test_it(): pass\n"
    settings = '[tool.memeval]\nstore = "sqlite"\n'
    project(tmp_path, {**STRANGE, "test_own.py": own, "pyproject.toml": settings})
    code, out = pytest_in(tmp_path, "-v")
    assert code == 0 and "1 passed" in out, out


def test_named_files_are_collected_and_a_failure_says_what_there_is(tmp_path: Path) -> None:
    project(
        tmp_path,
        {
            **{f"elsewhere/{name}": text for name, text in STRANGE.items()},
            "probes/a.yaml": GOOD,
            "probes/b.yaml": OTHER,
            "pyproject.toml": SETTINGS,
            "test_own.py": "def test_it(): pass\n",
        },
    )
    # Chosen probes judge neither suite nor store: three are far too few for controls.
    code, out = pytest_in(
        tmp_path, "-v", "-rs", "-k", "kiosk or van or test_it or controls", "-W", "error"
    )
    assert code == 1, out
    assert "2 passed, 1 failed, 1 skipped" in out.replace(
        "1 failed, 2 passed", "2 passed, 1 failed"
    )
    assert "probes/a.yaml::kiosk PASSED" in out
    assert "probes were chosen" in out
    assert "\x1b" not in out
    report = out[out.index("FAILURES") : out.index("short test summary")]
    assert "asked      zebra crossing" in report
    assert "expected   r1: " in report
    assert "returned   " in report
    assert "cause      " in report and "next       " in report
    assert "Traceback" not in report and "pytest_items.py" not in report
    assert max(len(line) for line in report.splitlines() if "memeval" not in line) <= 80


def test_a_suite_that_can_measure_nothing_passes_no_probe(tmp_path: Path) -> None:
    project(tmp_path, {"p/bad.yaml": OTHER})
    code, out = pytest_in(tmp_path, "--memeval", "p", "-v")
    assert code == 1, out
    assert "2 failed" in out and "passed" not in out.splitlines()[-1]
    assert "the suite is invalid, so no result of it says anything" in out


def test_the_command_line_alone_runs_what_it_names(tmp_path: Path) -> None:
    project(tmp_path, {"p/a.yaml": GOOD, "test_own.py": "def test_it(): assert False\n"})
    code, out = pytest_in(tmp_path, "--memeval", "p/a.yaml", "-k", "lunch")
    assert code == 0 and "1 passed" in out, out  # a tag is a keyword
    code, out = pytest_in(tmp_path, "--memeval", "p/a.yaml", "test_own.py", "-k", "kiosk or it")
    assert code == 1 and "1 failed, 1 passed" in out, out


def test_workers_of_xdist_and_junit(tmp_path: Path) -> None:
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    project(tmp_path, {"probes/a.yaml": GOOD, "probes/b.yaml": OTHER, "pyproject.toml": SETTINGS})
    options = ("-n", "2", "--dist", "loadgroup", "-k", "not controls and not van")
    code, out = pytest_in(tmp_path, *options, "--junitxml", "out.xml")
    assert code == 0 and "2 passed" in out, out
    names = {case.get("name") for case in ET.parse(tmp_path / "out.xml").iter("testcase")}
    assert names == {"kiosk", "nobody-knows"}


def test_workers_do_not_share_a_store_that_is_one_place(tmp_path: Path) -> None:
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    store = (
        "import memeval as me\n"
        "class One(me.SqliteStore):\n"
        "    capabilities = me.Capabilities(isolation='clear')\n"
    )
    project(tmp_path, {"p/a.yaml": GOOD, "one_place.py": store, "conftest.py": ""})
    options = ("--memeval", "p", "--memeval-store", "one_place:One", "-k", "kiosk")
    code, out = pytest_in(tmp_path, *options, "-n", "1", "-p", "no:randomly")
    assert code == 1 and "--dist loadgroup" in out, out


@pytest.mark.parametrize(
    ("files", "options", "words"),
    [
        ({}, ("--memeval", "nowhere"), "nowhere: there is no such file or folder"),
        (
            {"pyproject.toml": SETTINGS.replace('"probes"]', '"probs"]')},
            (),
            "probes of [tool.memeval] in pyproject.toml: ",
        ),
        ({"p/a.yaml": "- name: x\n"}, ("--memeval", "p"), "a.yaml:1: probe 'x': no query"),
        ({"p/a.yaml": GOOD}, ("--memeval", "p", "--memeval-store", "no_such:thing"), "no_such"),
        ({"pyproject.toml": "[tool.memeval]\nprobs = 1\n"}, (), "has no key 'probs'"),
    ],
)
def test_what_cannot_be_used_is_told_without_a_traceback(
    files: dict[str, str], options: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    project(tmp_path, {**files, "test_own.py": "def test_it(): pass\n"})
    code, out = pytest_in(tmp_path, *options)
    assert code not in (0, 5) and words in out, out
    assert "INTERNALERROR" not in out and "pytest_items.py" not in out


def test_held_out_probes_are_left_out(tmp_path: Path) -> None:
    many = "".join(
        f"- name: p{n}\n  query: soup {n}\n  given: [{{id: r1, text: Soup {n}.}}]\n  expect: [r1]\n"
        for n in range(20)
    )
    project(tmp_path, {"probes/a.yaml": many, "pyproject.toml": SETTINGS + "holdout = 0.4\n"})
    code, out = pytest_in(tmp_path, "--collect-only", "-q")
    kept = [line for line in out.splitlines() if "::p" in line]
    assert code == 0 and 5 <= len(kept) <= 17, out


@pytest.mark.parametrize("options", [(), ("-W", "error")])
def test_a_named_file_that_pytest_does_not_come_by_is_told(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    files = {
        "build/a.yaml": GOOD,  # norecursedirs of pytest holds build
        "pyproject.toml": SETTINGS.replace('"probes"]', '"build"]'),
        "test_own.py": "def test_it(): pass\n",
    }
    project(tmp_path, files)
    code, out = pytest_in(tmp_path, *options)
    words = " ".join(out.split())
    assert code == 0 and "1 passed" in out, out
    assert "a.yaml is named by [tool.memeval] and was not collected" in words
    assert "run pytest --memeval" in words and "INTERNALERROR" not in out
    code, out = pytest_in(tmp_path, "test_own.py")
    assert code == 0 and "was not collected" not in out


def test_a_folder_of_probes_brings_no_tests_along(tmp_path: Path) -> None:
    project(tmp_path, {"p/a.yaml": GOOD, "p/test_other.py": "def test_it(): assert False\n"})
    code, out = pytest_in(tmp_path, "--memeval", "p", "--collect-only", "-q")
    assert code == 0 and "kiosk" in out and "test_it" not in out, out


def test_names_that_no_node_id_can_hold_are_found_again(tmp_path: Path) -> None:
    odd = ["van [31m<b>", "a::b", "a/b", "controls", "van (31m<b>"]
    one = "- name: '{}'\n  query: zebra\n  given: [{{id: r1, text: Blue van.}}]\n  expect: [r1]\n"
    project(tmp_path, {"probes/a.yaml": "".join(map(one.format, odd)), "pyproject.toml": SETTINGS})
    options = ("-p", "cacheprovider", "--memeval-no-diagnose", "-k", "not of-the-suite")
    code, out = pytest_in(tmp_path, *options, "-v")
    assert code == 1 and "5 failed, 1 deselected" in out, out
    assert "a.yaml::controls FAILED" in out
    assert all(f"_ {name} _" in out for name in odd), out
    code, out = pytest_in(tmp_path, *options, "--lf", "-v")
    assert "5 failed" in out and "rerun previous 5 failures" in out, out
    code, out = pytest_in(tmp_path, "probes/a.yaml::van (31m<b>-2")
    assert code == 1 and "1 failed" in out and "_ van [31m<b> _" in out, out
    code, out = pytest_in(tmp_path, "-k", "of-the-suite", "--collect-only", "-q")
    assert "a.yaml::controls-of-the-suite" in out, out
