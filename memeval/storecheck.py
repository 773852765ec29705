"""What a store really does with what it is given: a contract test for an adapter, in words."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import pandas as pd

from memeval import frames
from memeval.atomic import write_whole
from memeval.comparing.manifests import without_private
from memeval.environment import tool_version
from memeval.errors import RunFileError, StoreError
from memeval.files.saved import read_saved
from memeval.harness.checked import Checked
from memeval.harness.collecting import Progress
from memeval.harness.options import Options
from memeval.plain import plain
from memeval.runner import refuse_odd
from memeval.showing import Shown
from memeval.storechecking.asking import asked, opened
from memeval.storechecking.questions import QUESTIONS
from memeval.stores.base import Capabilities, resolve
from memeval.stores.bound import Meter
from memeval.text import count
from memeval.verdicts import Verdict

FORMAT, VERSION = "memeval store check", 1
WANTED = "a check of a store, as memeval check-store writes it"


@dataclass(frozen=True, repr=False)
class StoreCheck(Shown):
    """What a store does, found by trying.

    Attributes
    ----------
    table : pandas.DataFrame
        As `memeval.frames.STORE_CHECKS`: a row per question.
    store : str
        Name of the store: the one that it was asked for by, else as it tells it.
    capabilities : Capabilities
        What was found. What could not be tried is as declared; ``deterministic`` is never True
        unless declared, since a few equal answers are no promise.
    declared : Capabilities or None
        What the store declares; None where it declares nothing.
    info : mapping
        What the store tells of itself, without places and secrets.
    left_behind : int
        Records that could not be removed.
    tool_version, created_at : str
        Version of memeval, and when it was; UTC, ISO 8601.
    """

    table: pd.DataFrame
    store: str
    capabilities: Capabilities = field(default_factory=Capabilities)
    declared: Capabilities | None = None
    info: dict[str, Any] = field(default_factory=dict)
    left_behind: int = 0
    tool_version: str = ""
    created_at: str = ""

    @property
    def broken(self) -> pd.DataFrame:
        """Rows in which the store does other than it declares, or than any store must."""
        return self.table[self.table["status"].eq("broken")]

    @property
    def findings(self) -> pd.DataFrame:
        """Rows that are worth knowing, and that fail nothing."""
        return self.table[self.table["status"].eq("finding")]

    @property
    def verdict(self) -> Verdict:
        """FAIL where something is broken, else PASS; findings alone fail nothing."""
        broken, n = self.broken, len(self.findings)
        if len(broken):
            reason = "; ".join(f"{row.question}: {row.found}" for row in broken.itertuples())
            return Verdict("FAIL", reason, str(broken["next_step"].iloc[0]), 1)
        reason = f"nothing is other than declared; {n} worth knowing" if n else "all as declared"
        return Verdict("PASS", reason, "run the suite: memeval run", 0)

    @property
    def reason(self) -> str:
        """The verdict in words."""
        return self.verdict.reason

    @property
    def next_step(self) -> str:
        """What to do, in words."""
        return self.verdict.next_step

    def applied(self, factory: Callable[[], Any]) -> Checked:
        """Give a factory whose stores declare what was found, where they say nothing themselves.

        Parameters
        ----------
        factory : callable
            Gives a fresh store of the kind that was checked.
        """
        told = {"verdict": self.verdict.word} | {
            str(row.question): str(row.found)
            for row in self.table.itertuples()
            if row.status in ("broken", "finding")
        }
        n = count(len(self.broken), "question")
        words = f"store check: {self.verdict.word}, {n} broken, {len(self.findings)} worth knowing"
        return Checked(factory, self.capabilities, (words, *self.objections), told)

    @property
    def objections(self) -> tuple[str, ...]:
        """What the store does other than it declares, a sentence each: a run does not mend it."""
        return tuple(
            f"store check: {row.question}: {row.found}, as against what is declared"
            for row in self.broken.itertuples()
        )

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values, as the saved file holds it."""
        verdict = self.verdict
        checks = self.table.astype("object").where(self.table.notna(), None)
        return {
            "format": FORMAT,
            "version": VERSION,
            "store": self.store,
            "verdict": verdict.word,
            "reason": verdict.reason,
            "next_step": verdict.next_step,
            "capabilities": self.capabilities.to_dict(),
            "declared": None if self.declared is None else self.declared.to_dict(),
            "info": self.info,
            "left_behind": self.left_behind,
            "tool_version": self.tool_version,
            "created_at": self.created_at,
            "checks": checks.to_dict("records"),
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file, whole or not at all.

        Raises
        ------
        MemevalError
            If it cannot be written there.
        """
        text = json.dumps(plain(self.to_dict()), indent=1, ensure_ascii=False)
        return write_whole(path, text + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> StoreCheck:
        """Read what `save` has written.

        Raises
        ------
        RunFileError
            If it is no such file.
        """
        told = read_saved(path, WANTED)
        try:
            if (told["format"], told["version"]) != (FORMAT, VERSION):
                raise ValueError(f"format {told['format']!r}, version {told['version']!r}")
            said = told["declared"]
            return cls(
                frames.conform(pd.DataFrame(told["checks"]), frames.STORE_CHECKS),
                str(told["store"]),
                Capabilities(**told["capabilities"]),
                None if said is None else Capabilities(**said),
                dict(told["info"]),
                int(told["left_behind"]),
                str(told["tool_version"]),
                str(told["created_at"]),
            )
        except (LookupError, TypeError, ValueError, StoreError) as error:
            raise RunFileError(
                f"{path}: holds no check that can be read ({error}); wanted {WANTED}; check the "
                "store again, or remove the file"
            ) from error


def check_store(
    make_store: str | Callable[[], Any],
    *,
    seed: int = 0,
    timeout_s: float | None = None,
    settle_s: float = 60.0,
    allow_nonempty: bool = False,
    embedder: Any = None,
    progress: Progress | None = None,
) -> StoreCheck:
    """Try out what a store does with ids, texts, scopes, deletes, order and odd queries.

    Parameters
    ----------
    make_store : callable or str
        Gives a fresh store, as for `memeval.run`.
    seed : int
        Tells the places of these records from those of other runs.
    timeout_s : float, optional
        Time limit of one search, in seconds; by default odd queries alone have one, of 30.
    settle_s : float
        How long to wait until a write can be found, in seconds.
    allow_nonempty : bool
        Accept a store that holds records; what is written is taken away again.
    embedder : {'hash', 'table', 'minilm'} or Embedder, optional
        What the store embeds with: then it has to rank by its exact cosine.
    progress : callable, optional
        ``progress(done, total, label)`` after each question.

    Returns
    -------
    StoreCheck
        A row per question: what was found, what the store declares, and what to do next. It is
        ``broken`` where that is other than declared, or than any store owes its caller; a
        ``finding`` is worth knowing; ``not_asked`` tells why. Where nothing at all is declared,
        what could have been is a finding.

    Raises
    ------
    StoreError
        If the store cannot be made, is not empty, or does not find what was just written.

    Examples
    --------
    >>> import memeval as me
    >>> found = me.check_store("sqlite")
    >>> found.verdict.word, found.table.set_index("question")["found"]["scopes"]
    ('PASS', 'exact')
    """
    refuse_odd(Integral, 0, seed=seed)
    refuse_odd(Real, 0, timeout_s=timeout_s, settle_s=settle_s)
    options = Options(
        seed=seed, timeout_s=timeout_s, settle_s=settle_s, allow_nonempty=allow_nonempty
    )
    trying = opened(options.binding(resolve(make_store), Meter()), options)
    trying.embedder = embedder
    rows = []
    for n, (name, question) in enumerate(QUESTIONS.items(), 1):
        rows.append({"question": name} | asked(question, trying))
        if progress is not None:
            progress(n, len(QUESTIONS), name)
    told = str(trying.info.get("name", "store"))
    return StoreCheck(
        frames.conform(pd.DataFrame(rows), frames.STORE_CHECKS),
        make_store if isinstance(make_store, str) else told,
        replace(trying.declared, **trying.found) if trying.found else trying.declared,
        trying.declared if trying.told else None,
        without_private(plain(trying.info)),
        trying.left_behind,
        tool_version(),
        datetime.now(UTC).isoformat(timespec="seconds"),
    )
