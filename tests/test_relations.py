"""Relations: each fault is seen, no sound store is accused, and all of it is told safely."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sound_stores import BREAKING, SOUND, BreaksR3ByCutting, Exact, Late

from memeval import Capabilities, Hit, Probe, Record, StoreError, Suite, load, resolve
from memeval.cli import main
from memeval.frames import RELATIONS, VIOLATIONS, conform
from memeval.relating.answers import Answer, Found, Rule, difference, tied
from memeval.relating.catalogue import BY_NAME
from memeval.relating.catalogue import RELATIONS as ALL
from memeval.relating.telling import recorded
from memeval.relating.worlds import worlds
from memeval.relations import Relations, check_relations
from memeval.report.relations_text import relations_markdown, relations_text
from memeval.stores import saboteurs
from memeval.stores.bound import BoundStore
from memeval.stores.sqlite import SqliteStore
from memeval.text import display_width

HARD = [one.name for one in ALL if one.kind == "hard"]
SOFT = [one.name for one in ALL if one.kind == "soft"]
Captured = pytest.CaptureFixture[str]


def violated(found: Relations) -> dict[str, int]:
    rows = found.frame[found.frame["n_violated"] > 0]
    return dict(zip(rows["relation"], rows["n_violated"], strict=True))


def row(found: Relations, name: str) -> Any:
    return found.frame.set_index("relation").loc[name]


def told_of_hard(found: Relations) -> str:
    return found.violations[found.violations["relation"].isin(HARD)].to_string()


def test_there_are_fourteen_hard_relations_and_five_soft_ones() -> None:
    assert HARD == "R1 R3 R4 R5 R6 R7 R8 R9 R9b R11 R11b R12 R13 R14".split()
    assert SOFT == "R2 R13b R15 R10 R16".split()


# Soundness: no sound store is accused.


@pytest.mark.parametrize("make", SOUND)
@pytest.mark.parametrize("seed", [0, 1])
def test_no_sound_store_is_accused(make: Callable[[], Any], seed: int) -> None:
    found = check_relations(make, seed=seed, trials=12, settle_s=0.5, poll_s=0.0)
    assert found.verdict.word == "PASS", told_of_hard(found)


@pytest.mark.parametrize(
    "name",
    [
        "sqlite",
        "sqlite-plain",
        "memeval.stores.vector:VectorStore",
        "memeval.stores.hybrid:HybridStore",
    ],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_shipped_stores_keep_every_hard_relation(name: str, seed: int) -> None:
    trials = 30 if name.startswith("sqlite") else 12
    found = check_relations(name, seed=seed, trials=trials)
    assert found.passed, told_of_hard(found)
    hard = found.frame[found.frame["kind"].eq("hard")].set_index("relation")
    plain = name == "sqlite-plain"
    assert hard["applicable"].sum() == 13 if plain else hard["applicable"].all()
    assert set(hard.loc[hard["applicable"], "n"]) == {trials}


@pytest.mark.parametrize("make", ["sqlite", "sqlite-plain", Exact])
def test_records_of_a_suite_are_written_where_one_is_given(make: Any) -> None:
    suite = load(Path(__file__).resolve().parent.parent / "probes")
    found = check_relations(make, suite=suite, trials=12)
    assert found.passed, told_of_hard(found)
    invented = {r.text for world in worlds(None, 3, 0) for r in world.records}
    told = {r.text for world in worlds(suite, 3, 0) for r in world.records}
    given = {r.text for probe in suite for r in probe.state.live}
    assert len(told & given) >= 20 and not invented & given


@pytest.mark.parametrize("kind", saboteurs.BENIGN)
def test_benign_wrappers_are_not_accused(kind: Any) -> None:
    found = check_relations(lambda: kind(BoundStore(SqliteStore()), 0), trials=12)
    assert found.passed, told_of_hard(found)


# Power: each fault is seen.


@pytest.mark.parametrize("name", HARD)
def test_a_store_that_breaks_a_hard_relation_fails_by_it(name: str) -> None:
    found = check_relations(BREAKING[name], trials=12)
    assert name in violated(found)
    assert found.verdict.word == "FAIL" and found.verdict.exit_code == 1
    assert name in found.verdict.reason
    assert row(found, name)["passed"] == False  # noqa: E712 - a nullable boolean
    told = found.violations[found.violations["relation"].eq(name)]
    assert len(told) == violated(found)[name]
    assert told["next_step"].eq(BY_NAME[name].next_step).all()
    assert not told[["query", "records", "before", "after", "finding"]].isna().any(axis=None)


@pytest.mark.parametrize(
    ("name", "alone"), [(n, {n}) for n in ("R3", "R4", "R5", "R6", "R9", "R9b", "R11b", "R12")]
)
def test_a_fault_is_told_by_its_own_relation_alone(name: str, alone: set[str]) -> None:
    found = check_relations(BREAKING[name], trials=12)
    assert set(violated(found)) & set(HARD) == alone


@pytest.mark.parametrize("name", SOFT)
def test_soft_relations_are_counted_and_never_gate(name: str) -> None:
    found = check_relations(BREAKING[name], trials=12)
    seen = row(found, name)
    assert seen["n_violated"] > 0 and 0 < seen["low"] < seen["share"] <= seen["high"] <= 1
    assert found.frame.set_index("relation").loc[SOFT, "passed"].isna().all()
    assert found.passed or name == "R13b"  # a delete of everything breaks R7 too


def test_a_store_that_cuts_before_it_looks_at_the_scope_is_seen() -> None:
    found = check_relations(BreaksR3ByCutting, trials=12)
    assert row(found, "R3")["n_violated"] > 0


def test_a_store_without_scores_that_loses_records_is_seen() -> None:
    class Forgets(Exact):
        capabilities = Capabilities(deterministic=True)

        def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
            lost = next(iter(self.kept)) if len(self.kept) > 5 else None
            found = super().search(query, k=k, scope=scope)
            return [Hit(hit.id, hit.text) for hit in found if hit.id != lost]

    assert {"R1", "R11"} <= set(violated(check_relations(Forgets, trials=12)))


def test_thirty_faults_of_the_embedded_store_are_exposed() -> None:
    slow = {"slow_20ms", "linear_scan"}  # times are no business of relations
    exposed = set()
    for kind in saboteurs.SABOTEURS:
        if kind.name in slow:
            continue
        found = check_relations(lambda kind=kind: kind(BoundStore(SqliteStore()), 0), trials=6)
        if set(violated(found)) & set(HARD):
            exposed.add(kind.name)
        if len(exposed) == 30:
            break
    assert len(exposed) == 30, sorted(exposed)


# What is not applicable.


@pytest.mark.parametrize(
    ("declares", "reasons"),
    [
        ({"scoping": "none"}, {"R3": "no scopes", "R4": "no scopes"}),
        ({"rewrites": True}, dict.fromkeys(["R5", "R6", "R11b"], "rewrites texts")),
        ({"ids": "assigned"}, {"R6": "ids of its own"}),
        ({"deterministic": None}, {"R8": "does not declare itself deterministic"}),
        ({"honours": frozenset()}, {"R12": "supersedes"}),
        (
            {"deterministic": False},
            dict.fromkeys(["R1", "R3", "R4", "R5", "R6", "R7", "R9", "R14"], "by themselves"),
        ),
    ],
)
def test_what_a_store_does_not_declare_it_is_not_held_to(
    declares: dict[str, Any], reasons: dict[str, str]
) -> None:
    class Declaring(Exact):
        capabilities = Capabilities(
            **{"score_order": "high", "deterministic": True, "honours": {"supersedes"}} | declares
        )

    found = check_relations(Declaring, trials=6)
    for name, words in reasons.items():
        seen = row(found, name)
        assert not seen["applicable"] and seen["n"] == 0 and words in seen["reason"]
        assert (
            found.frame.set_index("relation").loc[[name], ["share", "passed"]].isna().all(axis=None)
        )


def test_without_delete_nothing_is_deleted() -> None:
    class Keeping(Exact):
        delete = None

    found = check_relations(Keeping, trials=6)
    assert all("no delete" in row(found, name)["reason"] for name in ("R7", "R13", "R13b"))
    assert found.passed


def test_nothing_tried_is_no_pass() -> None:
    frame = check_relations("sqlite", trials=6).frame.assign(n=0, n_violated=0)
    found = Relations(conform(frame, RELATIONS), conform(frame[:0], VIOLATIONS))
    assert found.verdict.word == "FAIL" and found.verdict.exit_code == 1


def test_a_store_that_finds_nothing_does_not_pass() -> None:
    found = check_relations("null", trials=6)
    assert found.verdict.word == "FAIL" and {"R11", "R12"} <= set(violated(found))


# Errors are errors.


class Failing(Exact):
    """Fails in one of its methods, once the self check is over."""

    fails = ""

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        if self.fails == "search" and "check" not in scope:
            raise ConnectionError("no answer")
        return super().search(query, k=k, scope=scope)

    def put(self, record: Record) -> Any:
        if self.fails == "put" and "check" not in record.scope:
            raise ConnectionError("no answer")
        return super().put(record)

    def delete(self, store_id: str, *, scope: str) -> None:
        if self.fails == "delete" and "check" not in scope:
            raise ConnectionError("no answer")
        super().delete(store_id, scope=scope)


@pytest.mark.parametrize("fails", ["search", "put", "delete"])
def test_a_store_that_fails_is_an_error_and_no_violation(fails: str) -> None:
    broken = type("Broken", (Failing,), {"fails": fails})
    with pytest.raises(StoreError, match=r"relations: .*ConnectionError: no answer.*wanted"):
        check_relations(broken, trials=6)


@pytest.mark.parametrize(
    "options", [{"trials": 0}, {"trials": True}, {"seed": -1}, {"max_calls": 0}, {"poll_s": -1}]
)
def test_odd_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(StoreError, match="wanted a "):
        check_relations("sqlite", **options)


def test_calls_are_limited() -> None:
    with pytest.raises(StoreError, match="at most 100"):
        check_relations("sqlite", max_calls=100)


# Other people's places.


def place(isolation: str) -> tuple[type[Exact], dict[str, Record]]:
    """A store whose instances all stand for one place."""
    there: dict[str, Record] = {}

    class Placed(Exact):
        capabilities = Capabilities(
            score_order="high", deterministic=True, isolation=isolation, honours={"supersedes"}
        )

        def __init__(self) -> None:
            super().__init__()
            self.kept = there

        def count(self) -> int:
            return len(there)

    if isolation == "clear":
        Placed.clear = lambda self: (there.clear(), self.replaced.clear())
    return Placed, there


@pytest.mark.parametrize("isolation", ["clear", "namespace"])
def test_a_place_is_left_as_it_was(isolation: str) -> None:
    make, there = place(isolation)
    found = check_relations(make, trials=12)
    assert found.passed, told_of_hard(found)
    assert not there and found.left_behind == 0


def test_records_of_others_stay_where_they_may() -> None:
    make, there = place("namespace")
    there["theirs"] = Record("theirs", "Somebody else's gate code is 4471.", "them")
    with pytest.raises(StoreError, match="holds 1 record"):
        check_relations(make, trials=6)
    assert check_relations(make, trials=6, allow_nonempty=True).passed
    assert list(there) == ["theirs"]


def test_what_cannot_be_removed_is_said() -> None:
    make, _ = place("namespace")
    make.delete = None
    found = check_relations(make, trials=6)
    assert found.left_behind > 0
    assert "could not be removed" in relations_text(found)


def test_writes_that_come_late_are_waited_for() -> None:
    class Never(Late):
        def delete(self, store_id: str, *, scope: str) -> None:
            pass

    found = check_relations(Never, trials=6, settle_s=0.05, poll_s=0.01)
    assert {"R7", "R13"} <= set(violated(found)) & set(HARD)
    assert row(found, "R11")["n_violated"] == 0


# The same again.


def test_the_same_seed_gives_the_same_tables_and_another_other_records() -> None:
    first, second, other = (
        check_relations(BREAKING["R11"], seed=seed, trials=6) for seed in (3, 3, 4)
    )
    assert first.frame.equals(second.frame) and first.violations.equals(second.violations)
    assert not first.violations["records"].equals(other.violations["records"])


def test_opaque_ids_and_progress() -> None:
    seen: list[tuple[int, int]] = []
    found = check_relations(
        "sqlite", trials=6, opaque_ids=True, progress=lambda *one: seen.append(one[:2])
    )
    assert found.passed and seen[-1][0] == seen[-1][1] == len(seen)


# Comparing answers.


def answer(*pairs: tuple[str, float | None], k: int = 3, order: Any = "high") -> Answer:
    return Answer("q", k, tuple(Found(name, f"text {name}", score) for name, score in pairs), order)


@pytest.mark.parametrize(
    ("before", "after", "differs"),
    [
        # ties may change places
        ([("a", 2.0), ("b", 1.0), ("c", 1.0)], [("a", 2.0), ("c", 1.0), ("b", 1.0)], None),
        # and go or come at the cut
        ([("a", 2.0), ("b", 1.0), ("c", 1.0)], [("a", 2.0), ("d", 1.0), ("c", 1.0)], None),
        # what is above the cut may not go
        ([("a", 2.0), ("b", 1.0), ("c", 1.0)], [("d", 1.0), ("b", 1.0), ("c", 1.0)], "other"),
        # another order is another order
        ([("a", 2.0), ("b", 1.0), ("c", 0.5)], [("b", 1.0), ("a", 2.0), ("c", 0.5)], "order"),
        # ties at the end are no cut where fewer than k came back
        ([("a", 2.0), ("b", 1.0)], [("a", 2.0), ("c", 1.0)], "other records"),
        ([("a", 2.0), ("b", 1.0)], [("a", 2.0)], "2 records came back, then 1"),
        # an order that does not follow its scores is still the same order
        ([("a", 1.0), ("b", 2.0)], [("a", 1.0), ("b", 2.0)], None),
        # rounding is no difference
        ([("a", 1.0), ("b", 1.0 - 1e-9)], [("b", 1.0), ("a", 1.0 - 1e-9)], None),
    ],
)
def test_answers_are_compared_up_to_ties(
    before: list[Any], after: list[Any], differs: str | None
) -> None:
    found = difference(answer(*before), answer(*after), Rule())
    assert found is None if differs is None else found is not None and differs in found


def test_ties_may_go_or_come_where_a_store_cuts_below_k_by_itself() -> None:
    before = answer(("a", 2.0), ("b", 1.0))
    own = Rule(own_cut=True)
    assert difference(before, answer(("a", 2.0), ("c", 1.0)), own) is None
    assert difference(before, answer(("c", 2.0), ("b", 1.0)), own) == "other records came back"
    assert difference(before, answer(("a", 2.0)), own) == "2 records came back, then 1"
    scoreless = answer(("a", None), ("b", None)), answer(("a", None), ("c", None))
    assert difference(*scoreless, own) == "other records came back"


def test_a_sound_store_that_never_returns_more_than_five_is_not_accused() -> None:
    class Five(Exact):
        """Pads with records of score 0, all of them tied, in the order of writing."""

        def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
            own = [r for r in self.kept.values() if r.scope == scope and r.id not in self.replaced]
            found = sorted(own, key=lambda record: -self.score(query, record))
            return [Hit(r.id, r.text, self.score(query, r)) for r in found[: min(k, 5)]]

    found = check_relations(Five, trials=12)
    assert "R1" not in violated(found), told_of_hard(found)


def test_without_an_order_of_scores_states_are_compared_as_sets() -> None:
    before, after = (answer(("a", None), ("b", None), order=None, k=9) for _ in range(2))
    turned = answer(("b", None), ("a", None), order=None, k=9)
    assert difference(before, turned, Rule()) is None
    assert difference(before, turned, Rule(same_state=True)) is not None
    assert difference(before, after, Rule(same_state=True)) is None
    other = answer(("a", None), ("c", None), order=None, k=9)
    assert difference(before, other, Rule()) == "other records came back"
    assert difference(before, other, Rule(whole=False)) is None


def test_where_scores_may_move_order_is_free_and_records_are_not() -> None:
    before = answer(("a", 2.0), ("b", 1.0), k=9)
    turned = answer(("b", 1.5), ("a", 1.4), k=9)
    assert difference(before, turned, Rule()) is not None
    assert difference(before, turned, Rule(scores_move=True)) is None
    lost = answer(("b", 1.5), k=9)
    assert difference(before, lost, Rule(scores_move=True)) is not None


def test_low_scores_are_better_where_a_store_says_so() -> None:
    before = answer(("a", 0.1), ("b", 0.2), order="low", k=9)
    turned = answer(("b", 0.2), ("a", 0.1), order="low", k=9)
    assert difference(before, turned, Rule()) is not None
    assert tied(1e-7, 1.00001e-7) and not tied(1.0, 1.001) and not tied(None, None)


def test_texts_are_part_of_an_answer_unless_the_store_rewrites() -> None:
    one, other = (Answer("q", 3, (Found("a", text),)) for text in ("x", "y"))
    assert difference(one, other, Rule()) is not None
    assert difference(one, other, Rule(texts=False)) is None


def test_worlds_hold_no_two_texts_that_could_be_taken_for_one_but_for_their_value() -> None:
    from memeval.stores.sqlite import plain

    for world in worlds(None, 5, 11):
        assert len({record.id for record in world.records}) == len(world.records)
        assert len(world.spares) == 6 and len(world.targets) == 6 and len(world.scopes) == 3
        store = plain()
        for record in world.records:
            store.put(record)
        own = [record for record in world.records if record.scope == world.scope]
        assert len(own) == 12
        for record in own:
            first, *rest = store.search(record.text, k=2, scope=world.scope)
            assert first.id == record.id
            assert all(first.score > 1.05 * hit.score for hit in rest)  # no close call


# Hostile texts.

HOSTILE = (
    'Say "no" to <script>alert(1)</script> and *bold* [links](http://evil.example) now.',
    "Red \x1b[31m terminal escapes \x07 ring bells inside quiet libraries tonight.",
    "Right to left \u202e override hides extension names inside attachments.",
    "Line one of lyrics\nline two continues\ttabbed without remorse afterwards.",
    "Percent %s {braces} $(subshell) `ticks` | pipes; drop table records; -- comment.",
    "\u05e9\u05dc\u05d5\u05dd greets Miriam, whose bakery sells braided loaves on Fridays.",
)


@pytest.fixture(scope="module")
def hostile() -> Relations:
    given = [Record(f"h{n}", text, "x") for n, text in enumerate(HOSTILE)]
    suite = Suite.of([Probe("hostile", "anything", given, ["h0"], scope="x")])
    return check_relations(BREAKING["R11"], suite=suite, trials=30)


def test_hostile_texts_are_kept_by_sound_stores() -> None:
    given = [Record(f"h{n}", text, "x") for n, text in enumerate(HOSTILE)]
    suite = Suite.of([Probe("hostile", "anything", given, ["h0"], scope="x")])
    for make in ("sqlite", "sqlite-plain", Exact):
        found = check_relations(make, suite=suite)
        assert found.passed, told_of_hard(found)


def test_hostile_texts_are_made_visible_in_words(hostile: Relations) -> None:
    told = " ".join(hostile.violations.astype("str").to_numpy().ravel())
    assert re.search(r"␛\[31m|<U\+202E>|␊", told) and "<script>" in told
    assert not re.search("[\x00-\x1f\x7f\u202e]", told)


def test_no_form_lets_hostile_texts_act(hostile: Relations) -> None:
    forms = (relations_text(hostile), relations_markdown(hostile), hostile._repr_html_())
    for form in forms:
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", form)
    assert "<script" not in forms[1] and "<script" not in forms[2]
    assert "](http" not in forms[1]
    assert all(display_width(line) <= 80 for line in forms[0].split("\n"))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_record_is_told_on_one_line_that_does_nothing(text: str) -> None:
    told = recorded(Record("i\x1b[1m" + "d" * 99, text * 3, "s\u202ec"))
    assert not re.search("[\x00-\x1f\x7f\u202e]", told) and "…" in told
    assert display_width(told) <= 60 + 2 + 30 + 30 + 7 + 3 * len(text) // 4


def test_values_at_the_end_of_a_long_text_are_shown() -> None:
    found = check_relations(BREAKING["R11b"], trials=6)
    told = found.violations[found.violations["records"].str.contains("before the 21st.")]
    assert len(told) and told["before"].str.startswith('came back: "…').all()
    assert (told["before"] != told["after"].str.replace("wanted", "came back")).all()


# Forms.


def test_the_notebook_shows_verdict_violations_and_all_relations() -> None:
    shown = check_relations(BREAKING["R13"], trials=6)._repr_html_()
    assert "✗ FAIL" in shown and "A deleted record came back." in shown
    assert all(f">{one.name}<" in shown for one in ALL)
    assert "✓ PASS" in check_relations("sqlite", trials=6)._repr_html_()


def test_repr_says_the_verdict_first() -> None:
    shown = repr(check_relations("sqlite", trials=6))
    assert shown.startswith("Relations: PASS: 14 hard relations held in all of 84 trials")


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, from which the stores of these tests can be named."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return tmp_path


def test_the_command_runs_in_an_empty_folder_and_passes(empty: Path, capsys: Captured) -> None:
    assert main(["control", "--relations"]) == 0
    out, err = capsys.readouterr()
    order = [out.index(word) for word in ("VIOLATIONS:", "relation kind", "VERDICT: PASS")]
    assert order == sorted(order) and all(f"\n{one.name} " in out for one in ALL)
    assert all(display_width(line) <= 80 for line in out.split("\n"))
    assert "…" not in out and not err and not list(empty.iterdir())


def test_the_command_tells_violations_first_and_exits_with_1(empty: Path, capsys: Captured) -> None:
    code = main(["control", "--relations", "--store", "sound_stores:BreaksR13", "--seed", "2"])
    out = capsys.readouterr().out
    assert code == 1
    assert out.index("R13: A deleted record came back.") < out.index("relation kind")
    assert "and 28 more violations of R13" in out and "VERDICT: FAIL" in out
    assert all(display_width(line) <= 80 for line in out.split("\n"))


@pytest.mark.parametrize(("store", "code"), [("sqlite", 0), ("sound_stores:BreaksR6", 1)])
def test_json_has_every_relation_and_violation(
    store: str, code: int, empty: Path, capsys: Captured
) -> None:
    assert main(["control", "--relations", "--store", store, "--format", "json"]) == code
    told = json.loads(capsys.readouterr().out)
    assert told["exit_code"] == code and [r["relation"] for r in told["relations"]] == HARD + SOFT
    hard = [v for v in told["violations"] if v["relation"] in HARD]
    assert len(hard) == sum(r["n_violated"] for r in told["relations"] if r["relation"] in HARD)
    assert bool(hard) == bool(code)


def test_markdown_has_a_table(empty: Path, capsys: Captured) -> None:
    argv = ["control", "--relations", "--format", "markdown", "--quiet"]
    assert main([*argv, "--store", "sound_stores:BreaksR12"]) == 1
    out = capsys.readouterr().out
    assert "| R12 | hard | 30 of 30 | 1.00 |" in out and "## Verdict: FAIL" in out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--store", "no_such:store"], "no_such"),
        (["--store", "sound_stores:nothing"], "nothing"),
        (["--tag", "x"], "--tag"),
        (["--failed-last", "--dry-run"], "--failed-last, --dry-run"),
        (["--jobs", "2"], "--jobs"),
        (["--probes", "missing"], "missing"),
        (["--max-calls", "9"], "at most 9"),
    ],
)
def test_what_cannot_run_exits_with_2(
    argv: list[str], words: str, empty: Path, capsys: Captured
) -> None:
    assert main(["control", "--relations", *argv]) == 2
    out, err = capsys.readouterr()
    assert not out and words in err


def test_the_command_takes_the_records_of_named_probes(empty: Path, capsys: Captured) -> None:
    from memeval.resources import probes_folder

    code = main(["control", "--relations", "--probes", str(probes_folder())])
    assert code == 0 and "PASS" in capsys.readouterr().out


def test_a_store_is_named_as_everywhere() -> None:
    assert check_relations(resolve("sqlite"), trials=6).store == "SqliteStore"
