"""What a run leaves behind, and what it says.

A `Run` holds three tables (hits, calls, qrels), the suite that it asked and a manifest. Everything
else, the results, the summary and the verdict, is computed from these, on any machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd

from memeval.chances import leaks_of, told
from memeval.metrics import score
from memeval.showing import Shown
from memeval.spec import spec_results, spec_summary
from memeval.suite import WITHHELD, Suite
from memeval.summary import TARGETS, summarize
from memeval.text import visible
from memeval.verdicts import UNCHECKED as UNCHECKED
from memeval.verdicts import Validity as Validity
from memeval.verdicts import Verdict as Verdict
from memeval.verdicts import decide


@dataclass(frozen=True, repr=False)
class Manifest(Shown):
    """What was measured with what: plain values, saved with the run.

    Attributes
    ----------
    schema_version, metric_version : int
        Version of the tables, and of the definitions of the metrics.
    tool_version : str
        Version of memeval.
    suite_hash, haystack_hash : str
        What was asked, and among what.
    n_probes : int
        Probes asked.
    k : int or None
        The cutoff where all probes share one, else None.
    seed, repeats : int
        Seed of all draws, and how often each probe was asked of a store of its own.
    store : str
        Name of the store, as it tells it.
    store_info, capabilities, options : mapping
        What the store says and declares of itself, and how the run was made.
    environment : mapping
        Python, platform, packages, commit.
    created_at : str
        UTC, ISO 8601.
    notes : tuple of str
        What the reader must know of this run.
    matcher : str or None
        How hits are recognised, in order. None, here and below: not told, as in older files.
    normaliser_version, generator_version : int or None
        Version of the rules that make texts alike, and of those that build a haystack.
    verified_deterministic : bool or None
        Whether answers were equal wherever the same was asked again, of one store and of several,
        unless it declares itself deterministic; None where that was not seen.
    config_hash : str or None
        Hash of the settings that the store tells and declares.
    fingerprint : str or None
        Hash of its answers to 20 fixed queries; None with the cause in `no_fingerprint`.
    no_fingerprint : str
        Why there is no fingerprint.
    """

    schema_version: int
    metric_version: int
    tool_version: str
    suite_hash: str
    haystack_hash: str
    n_probes: int
    k: int | None
    seed: int
    repeats: int
    store: str
    store_info: Mapping[str, Any] = field(default_factory=dict)
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    created_at: str = ""
    notes: tuple[str, ...] = ()
    matcher: str | None = None
    normaliser_version: int | None = None
    generator_version: int | None = None
    verified_deterministic: bool | None = None
    config_hash: str | None = None
    fingerprint: str | None = None
    no_fingerprint: str = ""


@dataclass(frozen=True)
class Run:
    """All hits of one store on one suite, and what they come to.

    Attributes
    ----------
    hits, calls, qrels : pandas.DataFrame
        As in `memeval.frames`: a row per returned hit, per probe and repeat, per judged record.
    manifest : Manifest
        What was measured with what.
    suite : Suite
        The probes that were asked.
    validity : Validity
        Whether the suite can carry its numbers.
    targets, floors : mapping of str to float
        What to aim for (shown), and the user's own bounds (gating).
    allow_errors : int
        Failed searches that do not fail the run.
    controls : pandas.DataFrame or None
        The controls frame, where controls were run.
    causes : pandas.DataFrame or None
        The causes frame, where the failed probes were diagnosed.
    looks : pandas.DataFrame or None
        The looks frame of the ledger, where held-out probes were looked at and that was counted.

    Notes
    -----
    ``summary, results = run`` gives the `Summary` and the list of `ProbeResult` of the
    specification, not the frames.
    """

    hits: pd.DataFrame
    calls: pd.DataFrame
    qrels: pd.DataFrame
    manifest: Manifest
    suite: Suite
    validity: Validity = UNCHECKED
    targets: Mapping[str, float] = field(default_factory=lambda: dict(TARGETS))
    floors: Mapping[str, float] = field(default_factory=dict)
    allow_errors: int = 0
    controls: pd.DataFrame | None = None
    causes: pd.DataFrame | None = None
    looks: pd.DataFrame | None = None

    @cached_property
    def results(self) -> pd.DataFrame:
        """A row per probe."""
        return score(self.hits, self.qrels, self.calls)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """A row per metric."""
        return summarize(
            self.results,
            self.hits,
            self.qrels,
            self.calls,
            targets=self.targets,
            floors=self.floors,
            score_order=self.manifest.capabilities.get("score_order"),
        )

    @cached_property
    def failing(self) -> pd.DataFrame:
        """The results of the probes that did not pass, worst first.

        Leaks come first, then broken contracts, probes marked must, failed searches, misses, and
        negatives that were answered.
        """
        failed = self.results[self.results["passed"].eq(False).fillna(False)]
        order = pd.DataFrame(
            {
                "leak": -failed["n_leaked"],
                "contract": -failed["n_contract"],
                "must": ~failed["probe"].isin([p.name for p in self.suite if p.must]),
                "error": failed["status"].astype("str").eq("ok"),
                "kind": failed["kind"].astype("str").eq("negative"),
                "found": failed["recall_fraction"].fillna(0.0),
                "probe": failed["probe"],
            }
        )
        return failed.loc[order.sort_values(list(order.columns)).index].reset_index(drop=True)

    def value(self, metric: str) -> float:
        """Value of one metric of the summary; NaN when undefined."""
        rows = self.summary.loc[self.summary["metric"] == metric, "value"]
        if rows.empty:
            known = ", ".join(self.summary["metric"])
            raise KeyError(f"metric {metric!r} is not in the summary; it has {known}")
        return float(rows.iloc[0])

    @property
    def recall_at_k(self) -> float:
        """Share of positive probes with every expected group in the top k."""
        return self.value("recall_all")

    @property
    def mrr(self) -> float:
        """Mean reciprocal rank of the first expected hit."""
        return self.value("mrr")

    @property
    def distinct_at_k(self) -> float:
        """Mean share of distinct information units in the top k."""
        return self.value("distinct")

    @property
    def staleness(self) -> float:
        """Stale hits over all hits of positive probes."""
        return self.value("staleness")

    @property
    def flake_rate(self) -> float:
        """Share of the probes asked more than once whose repeats do not agree on passed."""
        return self.value("flaky_rate")

    @property
    def leaks(self) -> int:
        """Leaking records: one is a failed run."""
        return int(self.results["n_leaked"].sum())

    @property
    def errors(self) -> int:
        """Probes whose search, or the writing before it, failed or timed out."""
        return int(self.results["status"].isin(["failed", "timeout"]).sum())

    @property
    def passed(self) -> bool:
        """Whether the verdict is PASS."""
        return self.verdict.word == "PASS"

    @cached_property
    def verdict(self) -> Verdict:
        """Verdict, reason and next step: the first rule that matches decides."""
        return decide(self)

    def judged(self, validity: Validity, controls: pd.DataFrame | None = None) -> Run:
        """The same run with what was judged of it; what is scored already stays scored.

        Parameters
        ----------
        validity : Validity
            Whether the suite can carry its numbers.
        controls : pandas.DataFrame, optional
            The controls frame.
        """
        return self._with(validity=validity, controls=controls)

    def diagnosed(self, causes: pd.DataFrame) -> Run:
        """The same run with the causes of its failed probes, as `memeval.diagnose` gives them."""
        return self._with(causes=causes)

    def looked(self, looks: pd.DataFrame) -> Run:
        """The same run with the looks at its holdout, as `memeval.append_look` gives them."""
        return self._with(looks=looks)

    def _with(self, **changes: Any) -> Run:
        changed = replace(self, **changes)
        for name in ("results", "summary", "failing"):
            if name in self.__dict__:
                changed.__dict__[name] = self.__dict__[name]
        return changed

    def without_texts(self) -> Run:
        """The same run without the texts of records and hits.

        Names, ids, queries and numbers stay. What needs texts (`distinct`, ``context_tokens``) is
        NA when the run is scored again.
        """
        bare = self.hits.assign(
            text=pd.array([pd.NA] * len(self.hits), dtype="str"),
            canary=self.hits["canary"].where(self.hits["canary"].isna(), WITHHELD),
        )
        causes = self.causes
        if causes is not None:
            causes = causes.assign(evidence=pd.array([WITHHELD] * len(causes), dtype="str"))
        return replace(self, hits=bare, suite=self.suite.without_texts(), causes=causes)

    def __iter__(self) -> Iterator[Any]:
        """Summary and results in the shapes of the specification."""
        yield spec_summary(self.results, self.summary)
        yield spec_results(self.results, self.hits, self.qrels, self.suite)

    def __repr__(self) -> str:
        from memeval.report.layout import fitted

        verdict = self.verdict
        head = (
            f"Run of {len(self.results)} probes on {visible(self.manifest.store)}: {verdict.word}"
        )
        if verdict.word == "INVALID":
            withheld = "no number of an invalid suite is shown"
            return fitted(f"{head}\n{verdict.reason}\n{withheld}\n{verdict.next_step}")
        leaks = leaks_of(self.summary).words
        reason = verdict.reason if leaks in verdict.reason else f"{verdict.reason}\n{leaks}"
        shown = told(self.summary)[["metric", "value", "low", "high", "n"]].to_string(index=False)
        return fitted(f"{head}: {reason}\n{shown}")

    def _repr_html_(self) -> str:
        from memeval.report.notebook import run_html

        return run_html(self)
