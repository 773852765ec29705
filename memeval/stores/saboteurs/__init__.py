"""Stores with one known fault, around any store.

`SABOTEURS` are the faults that a suite has to see, in the order of their tables; `BENIGN` are
wrappers that it must not. Each is made as ``kind(BoundStore(store), seed)``.
"""

from __future__ import annotations

from memeval.stores.saboteurs import answers, asking, noting, scopes, sharing, writing
from memeval.stores.saboteurs.base import Saboteur
from memeval.stores.saboteurs.benign import InsertionOrder, ScoreJitter

__all__ = ["BENIGN", "SABOTEURS", "Saboteur"]

SABOTEURS: tuple[type[Saboteur], ...] = (
    answers.Null,
    noting.LosesNewest,
    noting.ForgetsOldest,
    answers.Lossy,
    noting.Random,
    noting.NewestOnly,
    noting.Constant,
    answers.Shuffled,
    answers.Reversed,
    answers.ScoreUnordered,
    asking.KIgnoring,
    answers.KMinusOne,
    answers.Top1Only,
    answers.DropTop1,
    answers.IdSwap,
    writing.TruncateText,
    answers.TruncateReturned,
    writing.DigitsDropped,
    writing.NegationBlind,
    writing.NoDedup,
    answers.DuplicateIds,
    answers.DuplicateFlood,
    writing.IdCaseFolding,
    answers.LexicalOnly,
    asking.QueryCut,
    answers.ThresholdTooHigh,
    noting.AlwaysAnswers,
    answers.Nondeterministic,
    sharing.StaleCache,
    sharing.SharedState,
    scopes.ScopeBlind,
    scopes.ScopePrefix,
    scopes.PostFilter,
    scopes.ScopeDropsAllOther,
    writing.IgnoresSupersede,
    writing.KeepsOldest,
    noting.SupersedeKillsBoth,
    writing.IgnoresDelete,
    noting.DeleteAllOfScope,
    writing.OverMerge,
    scopes.MixingSummary,
    asking.Slow,
    asking.LinearScan,
)
BENIGN: tuple[type[Saboteur], ...] = (Saboteur, ScoreJitter, InsertionOrder)
