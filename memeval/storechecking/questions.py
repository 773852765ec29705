"""What a store check asks, in order: each question tries one thing and says what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from memeval.storechecking import (
    honouring,
    identity,
    oddqueries,
    places,
    ranking,
    scoping,
    steadying,
    together,
)
from memeval.storechecking.findings import Finding
from memeval.storechecking.trying import Trying

# What a clean store is and whether its answers hold comes first: the others build on it.
QUESTIONS: Mapping[str, Callable[[Trying], Finding]] = MappingProxyType({
    "fresh": places.fresh,
    "visible": steadying.visibility,
    "deterministic": steadying.steadiness,
    "ids": identity.ids,
    "texts": identity.texts,
    "second write of an id": identity.updates,
    "equal texts": identity.twins,
    "scopes": scoping.scopes,
    "delete": scoping.deletes,
    "order": ranking.order,
    "scores": ranking.scores,
    "k": ranking.cutoff,
    "odd queries": oddqueries.oddities,
    "traces of reading": steadying.traces,
    "filter": honouring.filters,
    "expires": honouring.expiry,
    "supersedes": honouring.superseding,
    "batches": together.batches,
    "clear": places.cleared,
    "scratch and fork": places.scratched,
    "close": places.closed,
    "threads": together.threads,
    "exact vectors": ranking.vectors,
})  # fmt: skip
