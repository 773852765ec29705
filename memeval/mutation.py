"""Does the suite see what is wrong? The user's own store, with one known fault at a time."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from memeval.errors import MemevalError, ProbeError
from memeval.harness.collecting import Progress
from memeval.harness.parallel import workers
from memeval.harness.snapshots import Shelf
from memeval.mutating.bench import Bench
from memeval.mutating.choosing import chosen_of, key_of, options_of
from memeval.mutating.identity import recorded
from memeval.mutating.journal import MutationJournal
from memeval.mutating.skeletons import skeleton
from memeval.mutating.tables import frames_of
from memeval.mutating.trying import Found
from memeval.mutating.workers import ONE_PLACE, SHELF_BYTES, in_order, in_processes, refuse_jobs
from memeval.probe import Probe
from memeval.runs import Run
from memeval.stores.base import resolve
from memeval.stores.bound import View
from memeval.stores.saboteurs.base import Saboteur
from memeval.suite import Suite
from memeval.text import count, visible
from memeval.verdicts import Verdict

__all__ = ["Mutation", "mutate"]


@dataclass(frozen=True, repr=False)
class Mutation:
    """What a suite sees of stores with one known fault each.

    Attributes
    ----------
    kills : pandas.DataFrame
        As `memeval.frames.KILLS`: a row per saboteur and probe that killed it.
    saboteurs : pandas.DataFrame
        As `memeval.frames.SABOTEURS`: a row per saboteur, in the order in which they were given.
    identity : Run
        The store as it is; it carries the validity of the suite.
    skeletons : mapping of str to str
        For each survivor probes that would kill it, as the text of a probe file.
    repeats : int
        How often each probe was asked of each of them.
    notes : tuple of str
        What the reader must know of how they were tried.
    """

    kills: pd.DataFrame
    saboteurs: pd.DataFrame
    identity: Run
    skeletons: Mapping[str, str]
    repeats: int
    notes: tuple[str, ...] = ()

    @property
    def n_killed(self) -> int:
        """Saboteurs that a probe kills."""
        return int(self.saboteurs["killed"].eq(True).fillna(False).sum())

    @property
    def n_counted(self) -> int:
        """Saboteurs that mean something on this store: applicable, and not equivalent."""
        return int(self.saboteurs["killed"].notna().sum())

    @property
    def score(self) -> float:
        """Killed / (applicable - equivalent); NaN where there is none."""
        return self.n_killed / self.n_counted if self.n_counted else math.nan

    @property
    def kill_depth(self) -> float:
        """Share of the killed that two probes or more kill; NaN without any."""
        depths = self.saboteurs.loc[self.saboteurs["killed"].eq(True).fillna(False), "depth"]
        return float(depths.ge(2).mean()) if len(depths) else math.nan

    @property
    def survivors(self) -> pd.DataFrame:
        """Rows of the saboteurs that live."""
        alive = self.saboteurs["killed"].eq(False).fillna(False)
        return self.saboteurs[alive].reset_index(drop=True)

    @property
    def must_killed(self) -> bool:
        """Whether none lives that no good suite lets live."""
        return not self.survivors["must_kill"].any()

    @property
    def idle(self) -> list[str]:
        """Probes that kill nothing, in the order of the suite."""
        killing = set(self.kills["probe"])
        return [probe.name for probe in self.identity.suite if probe.name not in killing]

    @property
    def matrix(self) -> pd.DataFrame:
        """What each probe killed each saboteur by: saboteurs by probes, NA where it did not."""
        made = pd.DataFrame(
            index=pd.Index(self.saboteurs["saboteur"], name="saboteur"),
            columns=pd.Index([p.name for p in self.identity.suite], name="probe", dtype="str"),
            dtype="str",
        )
        said = self.kills.assign(by=self.kills["by"].astype("str"))
        wide = said.pivot(index="saboteur", columns="probe", values="by")
        return wide.reindex(index=made.index, columns=made.columns).astype("str")

    @property
    def verdict(self) -> Verdict:
        """INVALID as the run's; FAIL where a must-kill lives; PASS where any is counted."""
        validity = self.identity.validity
        if validity.status == "invalid":
            return Verdict("INVALID", "; ".join(validity.reasons), validity.next_step, 4)
        living = self.survivors
        must = living.loc[living["must_kill"], "saboteur"].tolist()
        if must:
            live = "lives" if len(must) == 1 else "live"
            reason = f"{count(len(must), 'saboteur')} that must be killed {live}: {', '.join(must)}"
            return Verdict("FAIL", reason, f"add a probe: {self._missing(must[0])}", 4)
        if not self.n_counted:
            n = count(len(self.saboteurs), "saboteur")
            reason = f"none of {n} is counted: not applicable or equivalent on this store"
            step = "read the reason of each; try faults that mean something on this store"
            return Verdict("CANNOT TELL", reason, step, 0)
        reason = f"{self.n_killed} of {count(self.n_counted, 'saboteur')} killed{self._chosen}"
        if not len(living):
            return Verdict("PASS", reason, "nothing to add: every fault that was tried is seen", 0)
        first = str(living["saboteur"][0])
        step = f"add a probe that kills {first}: {self._missing(first)}"
        return Verdict("PASS", reason, step, 0)

    def _missing(self, name: str) -> str:
        rows = self.saboteurs
        return str(rows.loc[rows["saboteur"].eq(name), "missing_probe"].iloc[0])

    @property
    def _chosen(self) -> str:
        suite = self.identity.suite
        if not suite.chosen_of:
            return ""
        return f", by {len(suite)} probes chosen of {suite.chosen_of}"

    def __repr__(self) -> str:
        from memeval.report.layout import fitted

        verdict, manifest = self.verdict, self.identity.manifest
        head = f"Mutation of {count(len(self.identity.suite), 'probe')}{self._chosen} on "
        head += f"{visible(manifest.store)}: {verdict.word}"
        if verdict.word == "INVALID":
            withheld = "no number of an invalid suite is shown"
            return fitted(f"{head}\n{verdict.reason}\n{withheld}\n{verdict.next_step}")
        lines = [f"{head}: {verdict.reason}", *self._lines(), verdict.next_step]
        return fitted("\n".join(lines))

    def _lines(self) -> Iterator[str]:
        must = "all that must be are" if self.must_killed else "not all that must be are"
        deep = self.kill_depth
        depth = "" if math.isnan(deep) else f", {deep:.3f} of them by two probes or more"
        yield f"score {self.score:.3f}: {self.n_killed} of {self.n_counted} killed{depth}; {must}"
        rows: Any = self.survivors.itertuples(index=False)
        for row in rows:
            yield f"alive: {row.saboteur}: {visible(row.fault)} ({row.reason})"
        yield from self.notes

    def _repr_html_(self) -> str:
        from memeval.report.mutation_notebook import mutation_html

        return mutation_html(self)


def mutate(
    probes: Suite | Sequence[Probe],
    make_store: str | Callable[[], Any],
    *,
    saboteurs: Sequence[type[Saboteur]] | None = None,
    retrieve: Callable[[Any, View], Any] | None = None,
    seed: int = 0,
    repeats: int | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    journal: str | os.PathLike[str] | None = None,
    resume: bool = False,
    **options: Any,
) -> Mutation:
    """Break the store in known ways, one at a time, and see which probes notice.

    Parameters
    ----------
    probes, make_store, retrieve, seed
        As for `memeval.run`.
    saboteurs : sequence of type, optional
        Kinds of `memeval.stores.saboteurs.base.Saboteur`, your own among them; all that ship
        with memeval unless given.
    repeats : int, optional
        How often each probe is asked of each saboteur; once where the store is seen to be
        deterministic, else 5 times.
    jobs : int
        How many saboteurs are tried at once, -1 for one on each core; above 1 it takes joblib. The
        tables are those of a run without. The saboteurs of a store with isolation ``namespace``
        are tried one after the other whatever is said here.
    progress : callable, optional
        ``progress(done, total, label)`` after each saboteur.
    journal : str or path-like, optional
        File to which each finished saboteur is added at once.
    resume : bool
        Whether to go on from what the journal holds; else it is begun anew.
    **options
        Further options of `memeval.run`: ``is_stale``, ``timeout_s``, ``retries``, ``settle_s``,
        ``opaque_ids`` and the like.

    Returns
    -------
    Mutation
        Which probes kill which saboteur, the survivors, and what is missing to kill them.

    Raises
    ------
    StoreError
        As `memeval.run`; or if a saboteur cannot be tried, with its name.
    ProbeError
        If the probes are at fault.
    RunFileError
        If the journal is of something else: the first difference is named.

    Notes
    -----
    A probe kills a saboteur where a gate or contract code fires that does not for the store as it
    is (in some repeat against none), where it passes in all repeats for the store as it is and in
    none for the saboteur, or where it is slower (median more than twice, and 1 ms, above that of
    the store as it is, which is asked once more to confirm it). Score: killed / (applicable -
    equivalent); a survivor is equivalent where its witness, the smallest probes that see the
    fault, shows no difference on this store.

    Saboteurs that change answers alone are given the recorded answers of the store: it is asked
    nothing for them.

    Examples
    --------
    >>> import memeval as me
    >>> from memeval.stores.saboteurs.base import Saboteur
    >>> class Null(Saboteur):
    ...     name, fault, caught_by, tag = "null", "finds nothing", "ratchet", "direct"
    ...
    ...     def answer(self, view):
    ...         return []
    >>> probe = me.Probe("lunch", "noodle bar", [me.Record("r1", "Lunch: noodle bar.")], ["r1"])
    >>> mutation = mutate([probe], "sqlite", saboteurs=[Null])
    >>> mutation.kills[["saboteur", "probe", "by"]]
      saboteur  probe       by
    0     null  lunch  ratchet
    >>> mutation.score
    1.0
    """
    suite, chosen = Suite.of(probes), chosen_of(saboteurs)
    if not suite:
        raise ProbeError("no probe to ask; give at least one, or load a folder with memeval.load")
    if resume and journal is None:
        raise MemevalError(
            "resume without a journal: found none, wanted the one to go on from; give journal=path"
        )
    asking, beside, told = options_of(options, retrieve, seed, repeats)
    n_jobs = workers(jobs, len(chosen) or 1)
    shelf = Shelf(SHELF_BYTES)
    bench = recorded(
        suite,
        resolve(make_store),
        asking,
        shelf,
        repeats=repeats,
        judged=isinstance(probes, Suite),
        told=told,
        **beside,
    )
    kept = None
    if journal is not None:
        names = [probe.name for probe in suite]
        kept = MutationJournal(journal, key_of(bench, chosen), resume=resume, probes=names)
    done = {} if kept is None else dict(kept.found)
    notes = []
    if n_jobs > 1 and bench.checked.capabilities.isolation == "namespace":
        notes.append(ONE_PLACE.format(jobs=n_jobs))
        n_jobs = 1
    for found in _tried(bench, [s for s in chosen if s.name not in done], n_jobs, shelf):
        done[found.saboteur] = found
        if kept is not None:
            kept.add(found)
        if progress is not None:
            progress(len(done), len(chosen), found.saboteur)
    notes += [
        f"{kind.name}: no probe of it was answered ({visible(error, 100)}); if that is not the "
        "fault, mend the saboteur"
        for kind in chosen
        if (error := done[kind.name].error)
    ]
    kills, rows = frames_of(suite, chosen, done)
    living = set(rows.loc[rows["killed"].eq(False).fillna(False), "saboteur"])
    skeletons = {kind.name: skeleton(kind) for kind in chosen if kind.name in living}
    return Mutation(kills, rows, bench.identity, skeletons, bench.repeats, tuple(notes))


def _tried(
    bench: Bench, saboteurs: Sequence[type[Saboteur]], jobs: int, shelf: Shelf
) -> Iterator[Found]:
    if jobs > 1 and len(saboteurs) > 1:
        refuse_jobs(bench, jobs)
        yield from in_processes(bench, saboteurs, jobs)
    else:
        yield from in_order(bench, saboteurs, shelf)
