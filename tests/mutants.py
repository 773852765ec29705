"""A mutation made by hand, for the tests of its forms and of its drawing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
from report_fixtures import make_run

from memeval.frames import KILLS, SABOTEURS, conform
from memeval.runs import Run
from memeval.verdicts import Verdict

LIVES = Verdict("FAIL", "lives that must die: scope_blind", "write the probe that is shown", 4)
INVALID = Verdict("INVALID", "luck alone recalls 0.402 of the probes", "mend the suite", 4)
SKELETON = """\
# A record of another scope must not come back.
- name: tea-of-the-neighbour
  query: "Which tea does Ana drink?"
  scope: ana
  given:
    - {id: r1, text: "Ana drinks mint tea.", scope: ana}
    - {id: r2, text: "Bo drinks fennel tea.", scope: bo}
  expect: [r1]
  forbid: [r2]
"""


@dataclass(frozen=True)
class Made:
    """What `memeval.mutation.Mutation` gives, with every value set by hand."""

    kills: pd.DataFrame
    saboteurs: pd.DataFrame
    verdict: Verdict = LIVES
    skeletons: Mapping[str, str] = field(default_factory=lambda: {"scope_blind": SKELETON})
    repeats: int = 1
    score: float = 3 / 5
    n_killed: int = 3
    n_counted: int = 5
    kill_depth: float = 2 / 3
    must_killed: bool = False
    idle: tuple[str, ...] = ("sheds", "skis")
    identity: Run = field(default_factory=make_run)
    notes: tuple[str, ...] = ("a note on how it was done",)

    @property
    def survivors(self) -> pd.DataFrame:
        """Rows of the saboteurs that live."""
        return self.saboteurs[self.saboteurs["killed"].eq(False).fillna(False)]


def kills(**changes: Any) -> pd.DataFrame:
    """Who killed whom: null by three probes, reversed by one, slow by two."""
    rows = [
        ("null", "lunch", "ratchet", None),
        ("null", "tea", "gate", "deleted"),
        ("null", "cats", "ratchet", None),
        ("reversed", "tea", "contract", "score_order"),
        ("slow", "lunch", "latency", None),
        ("slow", "cats", "latency", None),
    ]
    frame = pd.DataFrame(rows, columns=["saboteur", "probe", "by", "codes"])
    return conform(frame.assign(**changes), KILLS)


def saboteurs(**changes: Any) -> pd.DataFrame:
    """Seven of them: three killed, two alive, one equivalent, one that means nothing here."""
    frame = pd.DataFrame(
        {
            "saboteur": ["null", "reversed", "slow", "k_minus_1", "scope_blind", "oldest", "words"],
            "fault": [f"fault number {n}" for n in range(7)],
            "touches": "answer",
            "applicable": [True] * 6 + [False],
            "equivalent": [None, None, None, False, False, True, None],
            "killed": [True, True, True, False, False, None, None],
            "depth": [3, 1, 2, 0, 0, 0, 0],
            "must_kill": [True, False, False, False, True, False, True],
            "significant": [True, False, None, False, False, None, None],
            "missing_probe": [None] * 3 + ["as many expected as k", "a second scope", None, None],
            "reason": [None] * 3 + ["nobody asks for it", "no foreign record", "no difference",
                                    "the store has no words"],
        }
    )  # fmt: skip
    return conform(frame.assign(**changes), SABOTEURS)


def made(**changes: Any) -> Made:
    """The mutation of these frames; keywords replace its values."""
    return replace(Made(kills(), saboteurs()), **changes)


def perfect() -> Made:
    """Everything that counts is killed."""
    frame = saboteurs()
    frame = frame[~frame["killed"].eq(False).fillna(False)].reset_index(drop=True)
    verdict = Verdict("PASS", "all 3 killed", "", 0)
    return made(saboteurs=frame, verdict=verdict, score=1.0, n_counted=3, must_killed=True,
                skeletons={}, idle=())  # fmt: skip
