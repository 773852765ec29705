"""A Parquet folder of hits, calls and qrels in parts: written whole, read part by part.

::

    folder/calls/part-00000.parquet    a part is the three files of one name
    folder/hits/part-00000.parquet     all rows of a probe stand in one part
    folder/qrels/part-00000.parquet
"""

from __future__ import annotations

import importlib
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from memeval.checks.kinds import shown
from memeval.columns import Schema, conform, names
from memeval.errors import FrameError, MemevalError, RunFileError, said
from memeval.frames import CALLS, HITS, QRELS
from memeval.runs import Run

__all__ = ["SCHEMAS", "Tables", "part_names", "pyarrow_of", "read_part", "write_parquet"]

SCHEMAS: Mapping[str, Schema] = {"calls": CALLS, "hits": HITS, "qrels": QRELS}
Tables: TypeAlias = Run | Mapping[str, pd.DataFrame]
_LAYOUT = "folders calls, hits and qrels with a file of each part in all three"


@dataclass(frozen=True, slots=True)
class _Cut:
    """Tables and, for each of their rows, the number of its part."""

    frames: dict[str, pd.DataFrame]
    part: dict[str, Any]
    n_parts: int


def pyarrow_of(name: str) -> Any:
    """Import a module of pyarrow.

    Raises
    ------
    MemevalError
        If it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MemevalError(
            f"Parquet files need pyarrow, which cannot be imported ({error}); pip install "
            "'memeval-toolkit[distributed]' (in a checkout: pip install -e '.[distributed]')"
        ) from error


def write_parquet(
    tables: Tables | Iterable[Tables],
    folder: str | os.PathLike[str],
    *,
    rows_per_file: int = 1_000_000,
) -> Path:
    """Write hits, calls and qrels as a Parquet folder, to be summed up part by part.

    Parameters
    ----------
    tables : Run, mapping of str to pandas.DataFrame, or iterable of these
        ``hits``, ``calls`` and ``qrels``. Of an iterable each is written before the next is asked
        for, so that all together may be larger than memory; no probe may stand in two.
    folder : str or path-like
        Where to: new, or empty.
    rows_per_file : int
        About how many rows of the three tables a part has; a part is what is in memory at once
        when it is read.

    Returns
    -------
    Path
        The folder, absolute. It is there when all of it is written, and not before.

    Raises
    ------
    FrameError
        If a table, or a column that it must have, is missing, or a row belongs to no call.
    MemevalError
        If pyarrow is not installed, the folder holds something, or it cannot be written.

    Examples
    --------
    >>> tables = {
    ...     "calls": pd.DataFrame({"probe": ["lunch", "car"], "k": 5}),
    ...     "hits": pd.DataFrame({"probe": ["lunch"], "rank": [1], "record_id": ["r1"]}),
    ...     "qrels": pd.DataFrame(
    ...         {"probe": ["lunch", "car"], "record_id": ["r1", "r2"], "label": "expected"}
    ...     ),
    ... }
    >>> folder = write_parquet(tables, "log")  # doctest: +SKIP
    >>> summary = summarize_parquet(folder)  # doctest: +SKIP
    >>> summary[["metric", "value", "n"]].head(1)  # doctest: +SKIP
           metric  value  n
    0  recall_all    0.5  2
    """
    pyarrow_of("pyarrow.parquet")
    target = Path(folder).absolute()
    if type(rows_per_file) is not int or rows_per_file < 1:
        raise FrameError(f"rows_per_file is {shown(rows_per_file)}, wanted a whole number from 1")
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise MemevalError(
            f"{target} is there already, wanted a new or an empty folder; name another"
        )
    place = target.with_name(f".{target.name}-{secrets.token_hex(4)}")
    try:
        _write(tables, place, rows_per_file)
        if target.exists():
            target.rmdir()
        place.rename(target)
    except OSError as error:
        raise MemevalError(
            f"cannot write {target} ({error.strerror or said(error)}); wanted a place that may be "
            "written to, with room; name another"
        ) from error
    finally:
        shutil.rmtree(place, ignore_errors=True)  # gone already when it became the folder
    return target


def _write(tables: Tables | Iterable[Tables], place: Path, rows_per_file: int) -> None:
    for name in SCHEMAS:
        (place / name).mkdir(parents=True)
    sets = [tables] if isinstance(tables, Run | Mapping) else tables
    n_written = 0
    for one in sets:
        cut = _cut(_conformed(one), rows_per_file)
        for part in range(cut.n_parts):
            for name, frame in cut.frames.items():
                file = place / name / f"part-{n_written:05}.parquet"
                first, last = np.searchsorted(cut.part[name], [part, part + 1])
                _write_file(frame.iloc[first:last], file)
            n_written += 1


def _conformed(tables: Tables) -> dict[str, pd.DataFrame]:
    if not isinstance(tables, Run | Mapping):
        raise FrameError(
            f"found a {type(tables).__name__}, wanted a Run, or a mapping with the tables "
            f"{', '.join(SCHEMAS)}"
        )
    made = {}
    for name, schema in SCHEMAS.items():
        frame = getattr(tables, name) if isinstance(tables, Run) else tables.get(name)
        if frame is None:
            raise FrameError(f"{name}: not given, wanted the tables {', '.join(SCHEMAS)}; add it")
        try:
            made[name] = conform(frame, schema)
        except FrameError as error:
            raise FrameError(f"{name}: {error}") from error
    return made


def _cut(frames: dict[str, pd.DataFrame], rows_per_file: int) -> _Cut:
    """Number the parts, all rows of a probe in one, and sort the rows of each table by part."""
    probes = pd.Index(frames["calls"]["probe"].unique())
    at = {name: probes.get_indexer(frame["probe"]) for name, frame in frames.items()}
    for name, numbers in at.items():
        if (numbers < 0).any():
            probe = frames[name]["probe"].iloc[int(np.argmax(numbers < 0))]
            raise FrameError(
                f"{name}: probe {probe!r}: found rows of a probe that is not in calls, wanted a "
                "call for each; add its row to calls, or drop its rows"
            )
    rows = sum(np.bincount(numbers, minlength=len(probes)) for numbers in at.values())
    part_of = np.unique((np.cumsum(rows) - rows) // rows_per_file, return_inverse=True)[1]
    part = {name: part_of[numbers] for name, numbers in at.items()}
    order = {name: np.argsort(numbers, kind="stable") for name, numbers in part.items()}
    return _Cut(
        {name: frame.iloc[order[name]] for name, frame in frames.items()},
        {name: numbers[order[name]] for name, numbers in part.items()},
        int(part_of.max(initial=-1)) + 1,
    )


def _write_file(frame: pd.DataFrame, path: Path) -> None:
    table = pyarrow_of("pyarrow").Table.from_pandas(frame, preserve_index=False)
    pyarrow_of("pyarrow.parquet").write_table(
        table, path, compression="zstd", write_page_checksum=True
    )


def part_names(folder: Path) -> list[str]:
    """Names of the files of all parts, sorted.

    Raises
    ------
    RunFileError
        If there are none, or one of the three files of a part is missing.
    """
    found = {name: set(_files(folder / name)) for name in SCHEMAS}
    every = sorted(set.union(*found.values()))
    if not every:
        what = "is no folder" if not folder.is_dir() else "holds no part"
        raise RunFileError(
            f"{folder}: {what}, wanted {_LAYOUT}, as memeval.write_parquet writes them"
        )
    for part in every:
        missing = [name for name, files in found.items() if part not in files]
        if missing:
            raise RunFileError(
                f"{folder}: part {part} has no file in {' and '.join(missing)}, wanted {_LAYOUT} "
                "(empty where it has no rows): it may be half written; write the folder again"
            )
    return every


def _files(folder: Path) -> Iterator[str]:
    """Names of the Parquet files of a folder; a dot or an underscore in front marks others."""
    if folder.is_dir():
        yield from (p.name for p in folder.glob("*.parquet") if not p.name.startswith((".", "_")))


def read_part(folder: Path, part: str, tables: Iterable[str] = tuple(SCHEMAS)) -> dict[str, Any]:
    """Tables of one part, with the columns that memeval knows.

    Raises
    ------
    FrameError
        If a column is missing.
    RunFileError
        If a file cannot be read, or is damaged.
    """
    return {name: _read_file(folder / name / part, SCHEMAS[name]) for name in tables}


def _read_file(path: Path, schema: Schema) -> pd.DataFrame:
    parquet, arrow = pyarrow_of("pyarrow.parquet"), pyarrow_of("pyarrow")
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            there = set(file.schema_arrow.names)
            missing = [c.name for c in schema if c.required and c.name not in there]
            if missing:
                raise FrameError(
                    f"{path}: found the columns {sorted(there)}, wanted also {missing}; write the "
                    "folder again with them"
                )
            read: pd.DataFrame = file.read([c for c in names(schema) if c in there]).to_pandas()
    except (arrow.ArrowException, OSError) as error:
        raise RunFileError(
            f"{path}: cannot be read ({said(error)}), wanted a whole Parquet file: it is damaged "
            "or half written; write this part again"
        ) from error
    return read
