"""``memeval convert``: what it reads, what it writes, and what it says of both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import memeval as me
from memeval.cli import main
from memeval.datasets import read_beir, read_csv, read_jsonl, read_trec_run
from memeval.files.runfiles import save_run

PROBES = """
- name: kiosk
  query: "Where is the kiosk?"
  given: [{id: r1, text: "The kiosk is at the pier."}, {id: r2, text: "Old kiosk."}, {delete: r2}]
  expect: [r1]
- name: paint
  query: "Which paint?"
  scope: ana
  k: 3
  given: [{id: r1, text: "The paint is blue."}, {id: r2, scope: bo, text: "The paint is red."}]
  expect: [r1]
  forbid: [r2]
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "probes").mkdir()
    (tmp_path / "probes" / "a.yaml").write_text(PROBES)
    return tmp_path


def test_every_form_of_a_suite_is_written_and_read_again(home, capsys):
    suite = me.load()
    places = {"jsonl": "out.jsonl", "csv": "out.csv", "probes": "out.yaml"}
    for form, place in places.items():
        assert main(["convert", "--from", "probes", "probes/a.yaml", "--to", form, place]) == 0
        assert main(["convert", "--from", form, place, "--to", "probes", f"{form}.json"]) == 0
        assert [p.to_dict() for p in me.load(f"{form}.json")] == [p.to_dict() for p in suite]
    assert read_csv("out.csv").suite == read_jsonl("out.jsonl").suite == me.load("out.yaml")
    out = capsys.readouterr().out
    assert "read probes: 2 probes (2 positive, 0 negative)\nwrote jsonl: out.jsonl\n" in out


def test_without_from_it_is_the_suite_and_what_is_lost_is_counted(home, capsys):
    assert main(["convert", "--to", "beir", "made"]) == 0
    out = capsys.readouterr().out
    assert "      1  forbidden records, such as paint\n" in out
    assert "      1  deletes, such as kiosk\n" in out
    assert max(map(len, out.splitlines())) <= 80
    assert len(read_beir("made", scope="scope").suite) == 2
    assert main(["convert", "--from", "beir", "made"]) == 0
    told = capsys.readouterr()
    assert "--scope-field scope reads" in told.out and "nothing was written" in told.err
    fields = ["--scope-field", "scope", "--time-field", "at", "--k", "2"]
    assert main(["convert", "--from", "beir", "made", *fields, "--to", "jsonl", "b.jsonl"]) == 0
    assert {p.scope for p in read_jsonl("b.jsonl").suite} == {"kiosk/default", "paint/ana"}
    assert {p.k for p in read_jsonl("b.jsonl").suite} == {2}


def test_a_run_goes_out_as_rankings_and_as_its_suite(home, capsys):
    run = me.run(list(me.load()), "sqlite")
    save_run(run, "RUN.json")
    for form, place in (("trec-run", "r.run"), ("trec-qrels", "r.qrels"), ("dicts", "r.json"),
                        ("probes", "r.yaml")):  # fmt: skip
        assert main(["convert", "--from", "run", "RUN.json", "--to", form, place]) == 0
    told = capsys.readouterr().out
    assert "read run: a run of SqliteStore, 2 probes (2 positive, 0 negative)" in told
    assert [p.content_hash for p in me.load("r.yaml")] == [p.content_hash for p in me.load()]
    first = run.hits[run.hits["repeat"].eq(0)].groupby("probe")["record_id"].agg(list).to_dict()
    assert read_trec_run("r.run") == first
    assert main(["convert", "--from", "trec", "r.run", "r.qrels", "--to", "dicts", "t.json"]) == 0
    assert json.loads(Path("t.json").read_text())["qrels"] == {
        "kiosk": {"r1": 1},
        "paint": {"r1": 1},
    }
    assert main(["convert", "--from", "dicts", "t.json", "--to", "trec-run", "t.run"]) == 0
    save_run(run, "BARE.json", texts=False)
    capsys.readouterr()
    assert main(["convert", "--from", "run", "BARE.json", "--to", "csv", "x.csv"]) == 2
    assert "its texts were left out" in capsys.readouterr().err
    assert not Path("x.csv").exists()


def test_memories_and_chats_are_records_alone(home, capsys):
    memories = [{"id": "m1", "memory": "Likes tea.", "user_id": "ana"}, {"id": "m2"}]
    Path("mem0.json").write_text(json.dumps({"results": memories}))
    assert main(["convert", "--from", "mem0", "mem0.json", "--to", "csv", "m.csv"]) == 0
    out = capsys.readouterr().out
    assert "read mem0: 1 records" in out and "faults of the files (left out)" in out
    assert read_csv("m.csv").records[0].scope == "ana"
    Path("log.jsonl").write_text('{"role": "user", "content": "Tea is at four."}\n')
    assert main(["convert", "--from", "chat", "log.jsonl", "--to", "jsonl", "c.jsonl"]) == 0
    assert read_jsonl("c.jsonl").records[0].text == "Tea is at four."
    assert main(["convert", "--from", "mem0", "mem0.json", "--to", "beir", "x"]) == 2
    assert "there are records and no question; --to takes jsonl, csv" in capsys.readouterr().err


def test_a_file_stays_unless_it_is_forced(home, capsys):
    Path("out.csv").write_text("mine")
    assert main(["convert", "--to", "csv", "out.csv"]) == 2
    assert "--force on the command line" in capsys.readouterr().err
    assert Path("out.csv").read_text() == "mine"
    assert main(["convert", "--to", "csv", "out.csv", "--force"]) == 0
    assert main(["convert", "--to", "csv", "out.csv"]) == 0


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "found neither --from nor --to"),
        (["--from", "beri", "x"], "found no form 'beri'; write 'beir'"),
        (["--to", "parquet", "x"], "found no form 'parquet'; wanted one of probes, jsonl"),
        (["--to", "csv"], "found 0 paths after --to csv, wanted one"),
        (["--to", "csv", "a", "b"], "found 2 paths after --to csv, wanted one"),
        (["--from", "locomo"], "found 0 paths after --from locomo, wanted a path"),
        (["--from", "trec", "x"], "found 1 paths after --from trec, wanted RUN and QRELS"),
        (["--from", "run", "no.json"], "no.json: there is no such file"),
        (["--to", "trec-run", "x"], "no store was asked, so there is no ranking"),
        (["--to", "csv", "x", "--dir", "y"], "--dir is of calls"),
        (["--to", "calls"], "name it with --dir"),
        (["--to", "calls", "--dir", "a", "--out", "b"], "--out is of --from calls"),
        (["--from", "calls", "--dir", "a", "--to", "csv", "x"], "convert that with --from run"),
        (["--from", "csv", "x", "--k", "3"], "--k says nothing to --from csv"),
        (["--to", "csv", "x", "--unit", "turn"], "--unit says nothing to --from probes"),
        (["--from", "csv", "x", "--probes", "probes"], "--probes is no part of --from csv"),
        (["--from", "csv", "no.csv", "--to", "probes", "x.yaml"], "found no file no.csv"),
        (["--to", "probes", "nowhere/x.yaml"], "the folder nowhere is not there"),
    ],
)
def test_what_cannot_be_converted_is_refused_and_nothing_is_written(home, capsys, argv, words):
    before = sorted(path.name for path in home.rglob("*"))
    assert main(["convert", *argv]) == 2
    told = capsys.readouterr().err
    assert words in told and "Traceback" not in told
    assert sorted(path.name for path in home.rglob("*")) == before


def test_a_name_of_others_acts_on_no_terminal(home, capsys):
    row = {"id": "a", "text": "x", "\x1b[31mred": 1}
    Path("x.jsonl").write_text(json.dumps(row) + "\n")
    assert main(["convert", "--from", "jsonl", "x.jsonl"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out and "the field '\\x1b[31mred'" in " ".join(out.split())


def test_many_calls_are_told_by_their_number_and_folder(home, capsys):
    rows = [
        {"probe": f"p{n}", "query": f"tea {n}?", "expect": [f"r{n}"], "scope": f"s{n}"}
        for n in range(12)
    ]
    rows += [
        {"probe": f"p{n}", "id": f"r{n}", "text": f"tea {n}", "scope": f"s{n}"} for n in range(12)
    ]
    Path("x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["convert", "--from", "jsonl", "x.jsonl", "--to", "calls", "--dir", "calls"]) == 0
    out = capsys.readouterr().out
    assert "wrote request-001.json to request-012.json in calls" in out
    assert len(out.splitlines()) <= 6 and len(list(Path("calls").glob("request-*.json"))) == 12


def test_oddities_of_a_data_set_are_counted(home, shared, capsys):
    source = str(shared / "data" / "locomo" / "locomo2.json")
    assert main(["convert", "--from", "locomo", source, "--to", "probes", "lo.yaml"]) == 0
    out = capsys.readouterr().out
    # As the page of the data has them: 304 questions, of which two have no evidence.
    assert "read locomo: 231 probes (231 positive, 0 negative), 2 shared histories" in out
    assert "     16  faults of the files (not used), such as conv-26 session_20_date_time" in out
    assert "      2  questions that are no probe (no evidence), such as conv-26-q030" in out
    assert "     71  adversarial questions, which nothing answers: not in the suite" in out
    assert max(map(len, out.splitlines())) <= 80
    assert len(me.load("lo.yaml")) == 231
