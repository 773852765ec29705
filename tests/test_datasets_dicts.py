from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memeval as me
from memeval.datasets import read_dicts, to_dicts
from memeval.errors import ProbeError
from tests.odd_stores import Plain

NAMES = st.sampled_from(["d1", "d2", "d3", "d10", "é", "Z", "a b"])
# Few scores, so that many are equal; two that are equal as 32-bit numbers only.
SCORES = st.sampled_from([0.0, -1.5, 0.5, 1.0, 1.0 + 1e-12, 2, 7e4])
RUNS = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), st.dictionaries(NAMES, SCORES))
QRELS = st.dictionaries(
    st.sampled_from(["q1", "q2", "q4"]), st.dictionaries(NAMES, st.integers(-1, 2), min_size=1)
)


@given(RUNS, QRELS)
def test_it_scores_as_pytrec_eval(run, qrels):
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
    found = read_dicts(run, qrels)
    if not found.rankings:
        return
    ours = me.score_rankings(found.rankings, found.expected, k=10).set_index("probe")
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank", "recall_10"}).evaluate(run)
    for query in found.rankings:
        told = theirs.get(query, {"recip_rank": 0.0, "recall_10": 0.0})
        assert ours["rr"][query] == pytest.approx(told["recip_rank"])
        assert ours["recall_fraction"][query] == pytest.approx(told["recall_10"])


@given(RUNS, QRELS)
def test_each_query_is_scored_or_named(run, qrels):
    found = read_dicts(run, qrels)
    assert set(found.rankings) == set(found.expected)
    named = set(found.left_out["query"])
    assert not named & set(found.rankings) and named | set(found.rankings) == set(run) | set(qrels)
    for query, ranking in found.rankings.items():
        assert sorted(ranking) == sorted(run.get(query, {}))


def test_scores_that_differ_beyond_32_bits_are_equal():
    # trec_eval keeps scores as C floats: equal ones go by the greater document id.
    found = read_dicts({"q": {"a": 1.0 + 1e-12, "b": 1.0, "c": 0.5}}, {"q": {"a": 1}})
    assert found.rankings == {"q": ["b", "a", "c"]}


def test_a_higher_level_asks_for_more_relevance():
    qrels = {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}}
    found = read_dicts({"q1": {"a": 0.1}}, qrels, level=2)
    assert found.expected == {"q1": ["b"]} and found.rankings == {"q1": ["a"]}
    assert found.left_out.to_numpy().tolist() == [["q2", "no relevant document"]]


def test_what_is_no_dict_of_dicts_is_told_all_at_once():
    run = {"q1": {"a": "0.5", "b": float("nan"), "c": True}, "q2": [1], 3: {}}
    with pytest.raises(ProbeError) as told:
        read_dicts(run, {"q1": {"a": 0.5}})
    assert len(told.value.faults) == 6
    assert "run['q1']: 'a' has '0.5'; give each document, by a text, a number" in str(told.value)
    with pytest.raises(ProbeError, match="qrels: found 3; pass"):
        read_dicts({}, 3)
    with pytest.raises(ProbeError, match="level is 0"):
        read_dicts({}, {}, level=0)


class Odd(Plain):
    """Gives each record twice, and one of nobody's."""

    def search(self, query, *, k, scope):
        found = super().search(query, k=k, scope=scope)
        return [{"id": "nobody"}, *found, *found]


def test_a_run_goes_out_and_comes_back_with_the_same_figures():
    records = [me.Record(f"r{n}", f"tea number {n}") for n in range(4)]
    probes = [
        me.Probe("any", "tea", records, [["r2", "r3"]], stale=["r0"]),
        me.Probe("both", "tea", records, ["r0", "r3"], forbid=["r1"]),
        me.Probe("none", "tea", records),
    ]
    run = me.run(probes, Plain)
    out = to_dicts(run)
    assert out.qrels == {"any": {"r2": 1, "r3": 1}, "both": {"r0": 1, "r3": 1}}
    assert out.run["any"] == {"r0": 1.0, "r1": 1 / 2, "r2": 1 / 3, "r3": 1 / 4}
    assert dict(out.left_out.to_numpy().tolist()) == {
        "groups of which any one will do": 1, "stale records": 1, "forbidden records": 1,
        "negative probes": 1,
    }  # fmt: skip
    back = read_dicts(out.run, out.qrels)
    scored = me.score_rankings(back.rankings, back.expected, k=5).set_index("probe")
    before = run.results.set_index("probe")
    assert scored["rr"].to_dict() == before["rr"].dropna().to_dict()
    odd = to_dicts(me.run(probes[:1], Odd, check_store=False))
    counted = dict(odd.left_out.to_numpy().tolist())
    assert counted["hits of no record"] == 1
    assert counted["hits of a record that stands higher"] == 4
    assert to_dicts(me.Suite.of(probes)).run == {}
    with pytest.raises(ProbeError, match="found a int, wanted a Suite or a Run"):
        to_dicts(3)
