"""BEIR, TREC and the dicts: what comes back, and that all the rest is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given as law
from hypothesis import settings
from hypothesis import strategies as st

import memeval as me
from memeval.datasets import (
    Trec,
    read_beir,
    read_dicts,
    read_dicts_file,
    read_locomo,
    read_madial,
    read_trec,
    read_trec_qrels,
    read_trec_run,
    to_dicts,
    write_beir,
    write_dicts,
    write_trec_qrels,
    write_trec_run,
)
from memeval.errors import MemevalError, ProbeError
from memeval.record import Delete, Record
from tests.odd_stores import Plain
from tests.test_datasets_flat import FEW, suites


def counted(lost) -> dict[str, int]:
    assert [str(dtype) for dtype in lost.dtypes] == ["str", "int64", "str"]
    assert lost["n"].gt(0).all() and lost["what"].is_unique
    return dict(lost[["what", "n"]].to_numpy().tolist())


def seen(probe: me.Probe) -> list[tuple]:
    """What a query of BEIR asks: the live records of its scope, and which are relevant."""
    records = [r for r in probe.live if r.scope == probe.scope]
    wanted = {one for group in probe.groups for one in group}
    return [
        (r.text.strip(), r.at, json.dumps(r.meta, sort_keys=True), r.id in wanted) for r in records
    ]


@settings(max_examples=15, phases=FEW)
@law(suites())
def test_a_suite_in_beir_is_the_same_but_for_what_is_counted(tmp_path_factory, suite):
    folder = tmp_path_factory.mktemp("beir")
    told = counted(write_beir(suite, folder))
    back = read_beir(folder, scope="scope", at="at")
    assert back.faults.empty
    positive = [probe for probe in suite if probe.is_positive]
    assert [probe.name for probe in back.suite] == [probe.name for probe in positive]
    for ours, theirs in zip(positive, back.suite, strict=True):
        assert (theirs.query, seen(theirs)) == (ours.query, seen(ours))
    assert set(back.left_out["probe"]) == {probe.name for probe in suite if probe.is_negative}
    # Each thing that the files do not say, added up from the words of a probe file.
    said = suite.to_dict()
    steps = [op for ops in said["histories"].values() for op in ops]
    steps += [op for probe in said["probes"] for op in probe.get("given", ())]
    fields = (("forbidden records", "forbid"), ("canaries", "canary"), ("tags", "tags"),
              ("near misses", "near"), ("names for copies to rename", "names"),
              ("further scopes that may be read", "reads"))  # fmt: skip
    for what, name in fields:
        assert told.get(what, 0) == sum(len(p.get(name, ())) for p in said["probes"]), what
    for what, name in (("filters", "filter"), ("times of asking (now)", "now"),
                       ("reasons (why)", "why"),
                       ("marks that a probe must pass", "must")):  # fmt: skip
        assert told.get(what, 0) == sum(name in p for p in said["probes"]), what
    for what, name in (("deletes", "delete"), ("units", "unit"), ("times that pass", "advance"),
                       ("times from when a record no longer holds", "expires")):  # fmt: skip
        assert told.get(what, 0) == sum(name in op for op in steps), what
    assert told.get("background records of the haystack", 0) == len(suite.haystack or ())
    assert told["stores of their own that became one corpus"] == 3


def test_one_history_keeps_its_ids_and_scopes(tmp_path):
    ops = [Record("r1", "Tea."), Record("r2", "Rum.", "bo"), Record("r3", "Ale."), Delete("r3")]
    probes = [
        me.Probe("tea", "Tea?", ops, ["r1"], history="h"),
        me.Probe("rum", "Rum?", ops, [["r2"]], scope="bo", history="h"),
    ]
    told = counted(write_beir(probes, tmp_path / "made"))
    corpus = (tmp_path / "made" / "corpus.jsonl").read_text().splitlines()
    assert [json.loads(line)["_id"] for line in corpus] == ["r1", "r2"]
    assert told == {"deletes": 1, "records that are deleted when it is asked": 1}
    back = read_beir(tmp_path / "made", scope="scope").suite
    assert [(p.scope, p.expect) for p in back] == [("default", ("r1",)), ("bo", ("r2",))]


ROWS = st.lists(st.sampled_from(["r0", "r1", "r2", "r3", "nobody", "x"]), max_size=8).filter(
    lambda names: not names or any(name[1:].isdecimal() for name in names)
)  # a run of strangers alone is refused


class Scripted(Plain):
    """Answers what it is told."""

    answer: list[str] = []

    def search(self, query, *, k, scope):
        return [{"id": name, "score": 0.5} for name in self.answer]


@settings(max_examples=25)
@law(ROWS)
def test_a_run_in_trec_has_the_figures_of_the_run(tmp_path_factory, answer):
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
    folder = tmp_path_factory.mktemp("trec")
    records = [Record(f"r{n}", f"tea number {n}") for n in range(4)]
    probes = [me.Probe("a", "tea", records, ["r0", "r2"], k=10),
              me.Probe("b", "tea", records, ["r3"], k=10)]  # fmt: skip
    made = type("Said", (Scripted,), {"answer": answer})
    run = me.run(probes, made, check_store=False)
    write_trec_qrels(run, folder / "qrels")
    known = {f"r{n}" for n in range(4)}
    ranked = []
    for rank, name in enumerate(answer, 1):
        stand_in = f"no-record-{rank}" if name not in known else f"again-{rank}"
        ranked.append(name if name in known and name not in ranked else stand_in)
    if not answer:
        with pytest.raises(ProbeError, match="found no hit in the run"):
            write_trec_run(run, folder / "run")
        return
    told = counted(write_trec_run(run, folder / "run"))
    assert read_trec_run(folder / "run") == {"a": ranked, "b": ranked}
    assert told.get("hits of no record", 0) == 2 * sum("no-record" in one for one in ranked)
    assert told["scores of the store, told as 1 / rank"] == 2 * len(answer)
    assert to_dicts(run).run == {
        name: {one: 1 / rank for rank, one in enumerate(ranked, 1)} for name in ("a", "b")
    }
    with (folder / "qrels").open() as qrels, (folder / "run").open() as lines:
        judged, scored = pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(lines)
    measures = {"recip_rank": "rr", "recall_10": "recall_fraction", "ndcg_cut_10": "ndcg"}
    theirs = pytrec_eval.RelevanceEvaluator(judged, set(measures)).evaluate(scored)
    ours = run.results.set_index("probe")
    for name in ("a", "b"):
        for measure, column in measures.items():
            assert theirs[name][measure] == pytest.approx(ours[column][name]), measure


def test_stand_ins_are_no_ids_of_records(tmp_path):
    records = [Record("no-record-1", "tea"), Record("r", "tea")]
    made = type("Said", (Scripted,), {"answer": ["nobody", "no-record-1"]})
    run = me.run([me.Probe("a", "tea", records, ["r"])], made, check_store=False)
    write_trec_run(run, tmp_path / "run")
    assert read_trec_run(tmp_path / "run") == {"a": ["no-record-1-", "no-record-1"]}


def test_repeats_and_empty_answers_are_counted(tmp_path):
    records = [Record("r", "tea")]
    probes = [me.Probe("a", "tea", records, ["r"]), me.Probe("b", "zebra", records)]
    run = me.run(probes, "sqlite", repeats=3)
    told = counted(write_trec_run(run, tmp_path / "run", tag="mine"))
    assert (tmp_path / "run").read_text() == "a Q0 r 1 1.0 mine\n"
    assert told["answers of further repeats"] == 4
    assert told["probes without a line, which trec_eval leaves out unless told -c"] == 1


@pytest.mark.parametrize("bad", ["r 1", "r\t1", "r\n1", "r\u00a01", "r\x1c1", "r\r"])
def test_ids_with_a_blank_are_refused_in_trec_with_the_probe(tmp_path, bad):
    probe = me.Probe("tea", "tea", [Record(bad, "tea")], [bad])
    run = me.run([probe], "sqlite")
    for write, made in ((write_trec_qrels, run), (write_trec_run, run)):
        with pytest.raises(ProbeError) as caught:
            write(made, tmp_path / "out")
        assert "probe 'tea': " in str(caught.value) and "ends a field in TREC" in str(caught.value)
    with pytest.raises(ProbeError, match="probe 'a b': 'a b' holds ' '"):
        write_trec_qrels([me.Probe("a b", "tea", [Record("r", "tea")], ["r"])], tmp_path / "out")
    with pytest.raises(ProbeError, match="'my run' holds ' '"):
        good = me.run([me.Probe("a", "tea", [Record("r", "tea")], ["r"])], "sqlite")
        write_trec_run(good, tmp_path / "out", tag="my run")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([Record("r\t1", "tea")], r"probe 'tea': 'r\t1' holds '\t', which ends a field in BEIR"),
        ([Record('"r', "tea")], "begins with a quote"),
        ([Record("r", "tea", meta={"scope": 1})], "the metadata of 'r' has a field 'scope'"),
        ([Record("r", "tea"), Delete("r")], "found no live record"),
    ],
)
def test_what_beir_cannot_hold_is_refused_and_nothing_is_written(tmp_path, given, words):
    probe = me.Probe("tea", "tea", given, [] if len(given) > 1 else [given[0].id])
    with pytest.raises(ProbeError) as caught:
        write_beir([probe], tmp_path / "made")
    assert words in str(caught.value)
    with pytest.raises(ProbeError, match="wanted a plain name"):
        write_beir([probe], tmp_path / "made", split="../x")
    assert not list(tmp_path.iterdir())


def test_stores_whose_names_would_mix_are_refused(tmp_path):
    probes = [
        me.Probe("a", "tea", [Record("b/r", "tea"), Record("r", "rum")], ["r"]),
        me.Probe("a/b", "tea", [Record("b/r", "tea"), Record("r", "ale")], ["r"]),
    ]
    with pytest.raises(ProbeError, match="two stores would have the id 'a/b/r'"):
        write_beir(probes, tmp_path / "made")


def test_no_file_of_a_folder_is_written_where_one_must_stay(tmp_path):
    probe = me.Probe("tea", "tea", [Record("r", "tea")], ["r"])
    (tmp_path / "queries.jsonl").write_text("mine")
    with pytest.raises(MemevalError, match="queries.jsonl: is there already, says something else"):
        write_beir([probe], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["queries.jsonl"]
    write_beir([probe], tmp_path, replace=True)
    write_beir([probe], tmp_path)
    assert len(read_beir(tmp_path).suite) == 1


def test_rankings_of_others_go_from_form_to_form(tmp_path):
    found = read_dicts({"q": {"a": 0.1, "b": 0.9}, "s": {}}, {"q": {"a": 2}, "s": {"a": 1}})
    told = counted(write_trec_run(found, tmp_path / "run"))
    assert told == {"probes without a line, which trec_eval leaves out unless told -c": 1}
    write_trec_qrels(found, tmp_path / "qrels")
    back = read_trec(tmp_path / "run", tmp_path / "qrels")
    assert (back.rankings, back.expected) == (found.rankings, found.expected)
    assert write_dicts(back, tmp_path / "dicts.json").empty
    again = read_dicts_file(tmp_path / "dicts.json")
    assert (again.rankings, again.expected) == (found.rankings, found.expected)
    probe = me.Probe("tea", "tea", [Record("r", "tea")], [["r"]], stale=[])
    assert write_dicts(me.run([probe], "sqlite"), tmp_path / "own.json").empty
    with pytest.raises(ProbeError, match="nothing as 'qrels'"):
        (tmp_path / "odd.json").write_text("{}")
        read_dicts_file(tmp_path / "odd.json")


def test_neither_a_suite_nor_a_run_is_refused(tmp_path):
    for write, words in ((write_trec_run, "wanted a Run"), (write_trec_qrels, "wanted a Suite"),
                         (write_beir, "wanted a Suite")):  # fmt: skip
        with pytest.raises(ProbeError, match=words):
            write(3, tmp_path / "out")
    with pytest.raises(ProbeError, match="no probe that expects a record"):
        write_trec_qrels([me.Probe("n", "zebra", [Record("r", "tea")])], tmp_path / "out")


def figures(found: Trec) -> list[float]:
    table = me.score_rankings(found.rankings, found.expected, k=10)
    whole = me.score_rankings(found.rankings, found.expected, k=1000)
    return [
        round(float(v.mean()), 4) for v in (whole["rr"], table["ndcg"], table["recall_fraction"])
    ]


def test_the_figures_of_trec_eval_survive_every_form(shared: Path, tmp_path: Path) -> None:
    home = shared / "data" / "trec_eval"
    found = read_trec(home / "results.test", home / "qrels.test")
    write_trec_run(found, tmp_path / "run")
    write_trec_qrels(found, tmp_path / "qrels")
    write_dicts(found, tmp_path / "dicts.json")
    # trec_eval's own answer: recip_rank, ndcg_cut_10, recall_10.
    for back in (read_trec(tmp_path / "run", tmp_path / "qrels"),
                 read_dicts_file(tmp_path / "dicts.json")):  # fmt: skip
        assert figures(back) == [0.4064, 0.3016, 0.0317]


def test_madial_and_locomo_in_beir_are_the_same_questions(shared: Path, tmp_path: Path) -> None:
    suite = read_madial(shared / "data" / "madial-bench" / "raw").suite
    assert "stores of their own that became one corpus" not in counted(
        write_beir(suite, tmp_path / "m")
    )
    back = read_beir(tmp_path / "m", scope="scope", at="at").suite
    assert len(back) == 160 and [(p.name, seen(p)) for p in back] == [
        (p.name, seen(p)) for p in suite
    ]
    assert sum(map(len, read_trec_qrels_of(suite, tmp_path).values())) == 405
    locomo = read_locomo(shared / "data" / "locomo" / "locomo2.json").suite
    told = counted(write_beir(locomo, tmp_path / "l"))
    assert told["stores of their own that became one corpus"] == 2
    back = read_beir(tmp_path / "l", scope="scope", at="at").suite
    assert (len(back), len(back[0].records)) == (231, 788)
    assert [p.expect for p in back] == [p.expect for p in locomo]  # its ids are of one sample each


def read_trec_qrels_of(suite: me.Suite, folder: Path) -> dict[str, list[str]]:
    write_trec_qrels(suite, folder / "qrels.txt")
    return read_trec_qrels(folder / "qrels.txt")
