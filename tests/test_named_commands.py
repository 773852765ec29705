"""Commands and options that a text names are there: a next step that cannot be typed is none."""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import memeval as me
from memeval.cli.parser import VERBS, build

PACKAGE = Path(me.__file__).parent
ROOT = PACKAGE.parent
# Names of formats, in quotes where they are explained.
FORMATS = {"memeval mutation journal", "memeval verdict"}
# These call git, or are command lines of their own.
FOREIGN = {
    "environment.py", "embedders/distil.py", "files/gitfile.py", "pytest_items.py",
    "pytest_plugin.py",
}  # fmt: skip
# Before any verb, and of git.
OTHERS = {"--version", "--ours", "--theirs", "--unshallow"}
QUOTED = re.compile(r"(?<![\w`'])['`]{1,2}(memeval [a-z][^'`]*)['`]")
LINE = re.compile(r"^\s*(?:- )?(?:run: |\$ )?(memeval [a-z]+(?: [^#\n]*)?)", re.M)
BARE = re.compile(r"(?<![\w./-])memeval ([a-z_]+)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
CODE = re.compile(r"^```[a-z]*\n(.*?)^```", re.M | re.S)


def options() -> dict[str, set[str]]:
    """Option strings of every verb."""
    (verbs,) = [a for a in build()._actions if isinstance(a, argparse._SubParsersAction)]
    return {
        name: {word for action in verb._actions for word in action.option_strings}
        for name, verb in verbs.choices.items()
    }


KNOWN = options()
FUNCTIONS = {name for name in dir(me) if name.islower()} - set(VERBS)


def strings(source: str) -> Iterator[str]:
    """Texts of a module; what is put into one stands as a question mark."""
    inner: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            inner |= {id(one) for one in ast.walk(node)}
            parts = (n.value if isinstance(n, ast.Constant) else "?" for n in node.values)
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in inner:
                yield node.value


def texts() -> Iterator[tuple[str, str]]:
    """Everything that somebody may read, with its place."""
    for path in sorted(PACKAGE.rglob("*")):
        name = path.relative_to(PACKAGE).as_posix()
        if path.suffix == ".py":
            yield from ((name, text) for text in strings(path.read_text(encoding="utf-8")))
        elif path.suffix in (".j2", ".js") or name.startswith("starting/"):
            if path.is_file() and path.suffix != ".pyc":
                yield name, path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            yield path.name, "".join(cell["source"])
    yield "README.md", (ROOT / "README.md").read_text(encoding="utf-8")


def faults(command: str) -> Iterator[str]:
    """What is wrong with a command line: its verb, or an option that the verb does not take."""
    _, verb, *words = command.split()
    if command.strip() in FORMATS:
        return
    if verb not in KNOWN:
        yield f"no verb {verb}"
        return
    for word in (word.strip(".,;:()") for word in words):
        if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in KNOWN[verb]:
            yield f"{verb} takes no {word}"


def wrong(name: str, text: str) -> Iterator[str]:
    """What a text names that is not there."""
    commands = [found.replace("\n", " ") for found in QUOTED.findall(text)]
    blocks = CODE.findall(text) if name.endswith((".md", ".ipynb")) else [text]
    if name.endswith((".md", ".yml")):
        for block in blocks:
            whole = block.replace("\\\n", " ")
            commands += [one for line in LINE.findall(whole) for one in re.split(r" && ", line)
                         if one.startswith("memeval ")]  # fmt: skip
    yield from (f"{name}: {fault} in {one!r}" for one in commands for fault in faults(one))
    yield from (f"{name}: memeval {word} is a function of Python, no command"
                for word in BARE.findall(text) if word in FUNCTIONS)  # fmt: skip
    if name.endswith(".py") and name not in FOREIGN:
        known = OTHERS.union(*KNOWN.values())
        yield from (f"{name}: no verb takes {o}" for o in OPTION.findall(text) if o not in known)


def test_every_command_and_option_that_is_named_exists() -> None:
    assert [fault for name, text in texts() for fault in wrong(name, text)] == []


@pytest.mark.parametrize("verb", VERBS)
def test_the_example_of_a_verb_can_be_typed(verb: str) -> None:
    example = VERBS[verb].EXAMPLE
    assert [fault for line in example.splitlines() if line.strip().startswith("memeval ")
            for fault in faults(line)] == []  # fmt: skip
    assert f"memeval {verb}" in example


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "memeval diagnose tells these apart"),
        ("a.py", "run 'memeval diagnose' first"),
        ("a.py", "run `memeval lint --fix`"),
        ("a.py", "say which one (--journal)"),
        ("README.md", "Look:\n```sh\nmemeval run \\\n  --probez x   # all\n```\n"),
        ("README.md", "```sh\nmemeval init a && memeval lint --fix\n```\n"),
        ("workflow.yml", "      - run: memeval control --githup\n"),
    ],
)
def test_what_is_looked_for_is_found(name: str, text: str) -> None:
    assert list(wrong(name, text))
