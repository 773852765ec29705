"""A suite as a probe file: the native form, in which nothing of a probe may be lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from memeval.datasets.losses import Tally
from memeval.datasets.placing import put, writable
from memeval.errors import MemevalError, ProbeError
from memeval.given import op_to_dict
from memeval.loading import load_text
from memeval.probe import Probe
from memeval.probefiles.emitting import Style, block, flow, scalar
from memeval.suite import Suite

SUFFIXES = (".yaml", ".yml", ".json")
IN_LIST = Style(dash=2)


def write_probes(
    suite: Suite | list[Probe], path: str | Path, *, replace: bool = False
) -> pd.DataFrame:
    """Write a suite as one probe file, YAML or JSON by the end of its name.

    Parameters
    ----------
    suite : Suite or list of Probe
        What to write. Of a suite that came from several files, one file is made; comments in them
        are not part of a suite.
    path : str or pathlib.Path
        A file that ends in ``.yaml``, ``.yml`` or ``.json``.
    replace : bool
        Whether a file there that says something else is written over.

    Returns
    -------
    pandas.DataFrame
        What the form has no words for: ``what`` (str), ``n`` (int64), ``example`` (str, a probe).
        Mostly empty: a probe file says all of a probe.

    Raises
    ------
    ProbeError
        If there is no probe, its texts were left out, or a probe file may not hold it (such as one
        built in Python that expects nothing of an empty store); with every fault.
    MemevalError
        If it cannot be written there. Nothing was written.

    Notes
    -----
    What is about to be written is read back first, and every content hash must be the same.
    The shipped haystack is named, another is written in full.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import memeval as me
    >>> probe = me.Probe("tea", "When is tea?", [me.Record("r1", "Tea is at four.")], ["r1"])
    >>> with TemporaryDirectory() as folder:
    ...     lost = write_probes([probe], Path(folder, "tea.yaml"))
    ...     back = me.load(Path(folder, "tea.yaml"))
    ...     print(Path(folder, "tea.yaml").read_text(), end="")
    haystack: none
    probes:
      - name: tea
        query: "When is tea?"
        given:
          - {id: r1, text: "Tea is at four."}
        expect: [r1]
    >>> len(lost), back[0].content_hash == probe.content_hash
    (0, True)
    """
    suite, path = writable(suite), Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise ProbeError(f"{path}: found no name of a probe file, wanted {', '.join(SUFFIXES)}")
    if not len(suite):
        raise ProbeError(f"{path}: found no probe to write; choose at least one")
    text = _json(suite) if path.suffix.lower() == ".json" else "".join(_yaml(suite))
    _check(suite, load_text(text, f"as it would be written, {path.name}"), path)
    put({path: text}, replace=replace)
    return _lost(suite).frame()


def _json(suite: Suite) -> str:
    said = suite.to_dict()
    if suite.haystack_name == "shipped":
        said["haystack"] = "shipped"
    return json.dumps(said, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _yaml(suite: Suite) -> Iterator[str]:
    plain = suite.haystack_name == "shipped" and not suite.histories
    if suite.histories:
        yield "histories:\n"
    for name, ops in suite.histories.items():
        yield f"  {scalar(name)}:\n" if ops else f"  {scalar(name)}: []\n"
        yield from (f"    - {flow(op_to_dict(op))}\n" for op in ops)
    if suite.haystack_name == "shipped":
        yield "" if plain else "haystack: shipped\n"
    elif suite.haystack is None:
        yield "haystack: none\n"
    else:
        yield "haystack:\n" if suite.haystack else "haystack: []\n"
        records = (op_to_dict(record, record.scope) for record in suite.haystack)
        yield from (f"  - {flow(said)}\n" for said in records)
    if not plain:
        yield "probes:\n"
    for n, probe in enumerate(suite):
        yield "\n" if plain and n else ""
        yield block(probe.to_dict(), None if plain else IN_LIST)


def _check(suite: Suite, back: Suite, path: Path) -> None:
    """Refuse to write what would be read as something else."""
    for ours, theirs in zip(suite, back, strict=True):
        if ours.content_hash != theirs.content_hash or ours.to_dict() != theirs.to_dict():
            raise MemevalError(
                f"{path}: probe {ours.name!r} would be read back as another one; nothing was "
                "written, and this is a fault of memeval: report it with the probe"
            )


def _lost(suite: Suite) -> Tally:
    tally = Tally()
    if suite.haystack_name == "shipped":
        return tally
    for record in suite.haystack or ():
        more = record.at or record.expires or record.supersedes or record.scope != "default"
        tally.add("times, scopes and the like of background records", bool(more))
    return tally
