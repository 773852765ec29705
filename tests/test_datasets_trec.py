"""Runs and judgements of TREC, in the order of trec_eval, with every fault by its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval.datasets import read_trec, read_trec_qrels, read_trec_run
from memeval.errors import ProbeError
from memeval.rankings import score_rankings


def written(folder: Path, text: str, name: str = "run.txt") -> Path:
    file = folder / name
    file.write_bytes(text.encode())
    return file


RUN = "q2 Q0 a 3 0.5 t\nq2 Q0 b 1 0.5 t\nq1 Q0 a 1 7 t\nq2 Q0 c 2 0.9 t\n"


@pytest.mark.parametrize(
    ("order", "wanted"),
    [("score", ["c", "b", "a"]), ("rank", ["b", "c", "a"]), ("file", ["a", "b", "c"])],
)
def test_the_order_is_that_of_the_scores_unless_another_is_asked_for(tmp_path, order, wanted):
    assert read_trec_run(written(tmp_path, RUN), order=order) == {"q2": wanted, "q1": ["a"]}


def test_scores_are_numbers_of_32_bits_and_ties_go_by_the_bytes_of_the_id(tmp_path):
    # 1 + 1e-9 is 1 in 32 bits, so the greater id is first, against the 64-bit order
    run = "q Q0 a 1 1.000000001 t\nq Q0 b 2 1.0 t\nq Q0 Z 3 1.0 t\nq Q0 \u00e9 4 1 t\n"
    assert read_trec_run(written(tmp_path, run)) == {"q": ["\u00e9", "b", "a", "Z"]}


def test_huge_and_infinite_scores_are_no_fault(tmp_path):
    run = "q Q0 a 1 -1e300 t\nq Q0 b 2 inf t\nq Q0 c 3 1e-300 t\n"
    assert read_trec_run(written(tmp_path, run)) == {"q": ["b", "c", "a"]}


names = st.lists(st.text("abAB01", min_size=1, max_size=3), min_size=1, max_size=12, unique=True)


@settings(max_examples=80)
@given(names, st.data())
def test_order_is_that_of_trec_eval(tmp_path_factory, documents, data):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    score = st.sampled_from([0.1, 0.1 + 1e-10, 0.3, 16777216.0, 16777217.0, -2.0])
    scores = {document: data.draw(score) for document in documents}
    wanted = data.draw(st.sampled_from(documents))
    lines = "".join(f"q Q0 {d} 1 {s!r} t\n" for d, s in scores.items())
    file = written(tmp_path_factory.mktemp("trec"), lines)
    ranking = read_trec_run(file)["q"]
    evaluator = pytrec_eval.RelevanceEvaluator({"q": {wanted: 1}}, {"recip_rank"})
    assert 1 / (ranking.index(wanted) + 1) == evaluator.evaluate({"q": scores})["q"]["recip_rank"]


def test_blank_lines_windows_line_ends_tabs_and_a_byte_order_mark_are_read(tmp_path):
    run = "\ufeffq\tQ0\td1\t1\t2.5\tt\r\n\r\n  q  Q0  d2  2  2.0  t\r\n"
    assert read_trec_run(written(tmp_path, run)) == {"q": ["d1", "d2"]}


def test_every_fault_of_a_run_is_told_with_its_line(tmp_path):
    run = "q Q0 a 1 0.5 t\nq Q0 b 2 0.4\nq Q0 c 3 high t\n\nq Q0 a 4 0.1 t\nq Q0 d 5 nan t\n"
    file = written(tmp_path, run)
    with pytest.raises(ProbeError) as caught:
        read_trec_run(file)
    lines = str(caught.value).split("\n")
    for line, number, found in zip(
        lines,
        (2, 3, 5, 6),
        ("5 fields", "the score 'high'", "'a' again for the same query", "the score 'nan'"),
        strict=True,
    ):
        assert line.startswith(f"{file}:{number}: found ")
        assert found in line and "wanted 'query Q0 document rank score tag'" in line


def test_the_rank_is_looked_at_only_where_it_orders(tmp_path):
    file = written(tmp_path, "q Q0 a first 0.5 t\n")
    assert read_trec_run(file) == {"q": ["a"]}
    with pytest.raises(ProbeError, match=r":1: found the rank 'first'"):
        read_trec_run(file, order="rank")
    with pytest.raises(ProbeError, match="order is 'best', wanted 'score', 'rank' or 'file'"):
        read_trec_run(file, order="best")  # type: ignore[arg-type]


def test_of_very_many_faults_the_first_are_told_and_the_rest_counted(tmp_path):
    with pytest.raises(ProbeError, match="\n.*480 more faults") as caught:
        read_trec_run(written(tmp_path, "x\n" * 500))
    assert len(caught.value.faults) == 21


@pytest.mark.parametrize("reader", [read_trec_run, read_trec_qrels])
def test_a_file_that_is_missing_or_empty_is_refused(tmp_path, reader):
    with pytest.raises(ProbeError, match=r"found no file .*nowhere.*TREC"):
        reader(tmp_path / "nowhere")
    with pytest.raises(ProbeError, match="found no line.*TREC"):
        reader(written(tmp_path, "\n \n"))


def test_the_level_says_what_is_relevant(tmp_path):
    file = written(tmp_path, "q 0 a 1\nq 0 b 2\nq 0 c 0\nq 0 d -1\nz 0 a 0\n")
    assert read_trec_qrels(file) == {"q": ["a", "b"], "z": []}
    assert read_trec_qrels(file, level=2) == {"q": ["b"], "z": []}


def test_every_fault_of_judgements_is_told_with_its_line(tmp_path):
    file = written(tmp_path, "q 0 a 1\nq 0 a 0\nq 0 b\nq 0 c 0.5\n")
    with pytest.raises(ProbeError) as caught:
        read_trec_qrels(file)
    assert [fault.line for fault in caught.value.faults] == [2, 3, 4]
    for found in ("'a' judged again for query 'q'", "3 fields", "the relevance '0.5'"):
        assert found in str(caught.value)


def test_queries_are_paired_and_what_has_no_partner_is_told(tmp_path):
    qrels = written(tmp_path, "q3 0 a 1\nq2 0 a 1\nq4 0 a 0\n", "qrels.txt")
    trec = read_trec(written(tmp_path, RUN), qrels)
    assert trec.rankings == {"q3": [], "q2": ["c", "b", "a"]}
    assert trec.expected == {"q3": ["a"], "q2": ["a"]}
    assert trec.left_out.to_numpy().tolist() == [
        ["q1", "not judged"],
        ["q4", "no relevant document"],
    ]
    # q2 at rank 3, q3 not answered: (1/3 + 0) / 2
    assert score_rankings(trec.rankings, trec.expected)["rr"].mean() == pytest.approx(1 / 6)


def test_the_figures_of_trec_eval_on_its_own_files(shared: Path) -> None:
    folder = shared / "data" / "trec_eval"
    trec = read_trec(folder / "results.test", folder / "qrels.test")
    printed: dict[tuple[str, str], float] = {}
    for line in (folder / "out.test.aq").read_text().splitlines():
        measure, query, value = line.split()
        if value.replace(".", "").isdigit():
            printed[measure, query] = float(value)
    whole = score_rankings(trec.rankings, trec.expected, k=1000).set_index("probe")
    for k in (5, 10, 20, 100, 500):
        cut = score_rankings(trec.rankings, trec.expected, k=k).set_index("probe")
        for query in trec.rankings:
            assert round(cut["ndcg"][query], 4) == printed[f"ndcg_cut_{k}", query]
            assert round(cut["recall_fraction"][query], 4) == printed[f"recall_{k}", query]
            assert round(cut["precision"][query], 4) == printed[f"P_{k}", query]
    for query in trec.rankings:
        assert round(whole["rr"][query], 4) == printed["recip_rank", query]
    ten = score_rankings(trec.rankings, trec.expected, k=10)
    found = [whole["rr"].mean(), ten["ndcg"].mean(), ten["recall_fraction"].mean()]
    assert [round(value, 4) for value in found] == [0.4064, 0.3016, 0.0317]
    assert trec.left_out.empty


def test_the_order_of_the_file_gives_other_figures(shared: Path) -> None:
    folder = shared / "data" / "trec_eval"
    trec = read_trec(folder / "results.test", folder / "qrels.test", order="file")
    whole = score_rankings(trec.rankings, trec.expected, k=1000)
    assert whole["rr"].mean() < 0.1


@pytest.mark.parametrize(
    ("system", "recall", "mrr"),
    [
        ("bge_m3", (27.92, 47.29, 55.27, 70.47), (50.63, 59.90, 61.80, 63.24)),
        ("gte", (27.13, 43.72, 52.50, 65.68), (45.00, 53.85, 56.20, 57.50)),
    ],
)
def test_the_published_figures_of_madial_bench(shared: Path, system, recall, mrr) -> None:
    folder = shared / "data" / "madial-bench" / "trec"
    trec = read_trec(folder / f"run.{system}.txt", folder / "qrels.txt")
    assert len(trec.rankings) == 160
    for at, k in enumerate((1, 3, 5, 10)):
        found = score_rankings(trec.rankings, trec.expected, k=k)
        assert 100 * found["recall_fraction"].mean() == pytest.approx(recall[at], abs=0.0051)
        assert 100 * found["rr"].mean() == pytest.approx(mrr[at], abs=0.0051)
