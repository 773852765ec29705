from __future__ import annotations

import json
from collections import Counter
from math import comb, exp, fsum, hypot, log, sqrt
from typing import Any

import pytest

from memeval.loading import load
from tests.notebooks_shared import (
    KEEP_TABLES,
    ROOT,
    check_outputs,
    expected_groups,
    kept_run,
    mrr,
    recall,
    rows,
)

KEEP = f"""told_runs = runs
{KEEP_TABLES}"""
KEEP += """
said = {
    name: {
        "word": one.verdict.word,
        "reason": one.verdict.reason,
        "recall_all": one.of("recall_all")[["delta", "low", "high", "p_value"]].to_list(),
        "flips": one.of("recall_all")[["n", "wins", "losses"]].to_list(),
        "latency": [one.of("latency_ms")["delta"], one.of("latency_ms")["n"]],
        "bound": one.bound,
        "needed": one.needed,
        "lost": one.named("lost"),
        "gained": one.named("gained"),
    }
    for name, one in {**compared, **{str(step): one for step, one in tried.items()}}.items()
}
figures = {
    "wide": wide[["recall_all", "mrr", "leaks", "contract", "abstention"]].to_dict("index"),
    "leaked": leaked[["store", "probe", "rank", "record_id"]].to_numpy().tolist(),
    "moved": moved[["store", "probe", "change", "kind", "cause"]].to_json(orient="values"),
    "best": best.reset_index().to_numpy().tolist(),
    "choice": choice[["lost", "gained"]].to_json(orient="index"),
    "order": list(choice.sort_values(first, ascending=[True, True, False]).index),
    "sizes": {str(step): len(part) for step, part in few.items()},
    "baseline": baseline,
    "rival": rival,
}
Path(KEPT).write_text(
    json.dumps({"tables": tables, "said": said, "figures": figures}, default=float)
)
"""
Z = 1.6448536269514722  # 95 % of a standard normal lies below
MARGIN = 0.1


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    return kept_run("05_comparing_two_stores", KEEP, tmp_path_factory.mktemp("notebook"))


@pytest.fixture
def kept(ran):
    return ran[1]


def answered(kept: Any, store: str) -> dict[str, list[str]]:
    """Ids that a store returned, by rank, of each probe that it could take."""
    found: dict[str, list[str]] = {
        call["probe"]: [] for call in rows(kept, store, "calls") if call["status"] == "ok"
    }
    for hit in sorted(rows(kept, store, "hits"), key=lambda hit: hit["rank"]):
        found[hit["probe"]].append(hit["record_id"])
    return found


def recalled(kept: Any, store: str) -> dict[str, bool]:
    """Of each positive probe whether every group stands in the top k."""
    groups = expected_groups(kept, store)
    k = {call["probe"]: call["k"] for call in rows(kept, store, "calls")}
    return {
        name: all(group & set(ids[: k[name]]) for group in groups[name].values())
        for name, ids in answered(kept, store).items()
        if name in groups
    }


def leaks(kept: Any, store: str) -> set[tuple[str, str]]:
    forbidden = {
        (row["probe"], row["record_id"])
        for row in rows(kept, store, "qrels")
        if row["label"] == "forbidden"
    }
    return {
        (name, record) for name, ids in answered(kept, store).items() for record in ids
    } & forbidden


def passing(kept: Any, store: str) -> set[str]:
    """Probes that recall all or keep silent, and leak nothing."""
    found = recalled(kept, store)
    leaking = {name for name, _ in leaks(kept, store)}
    return {
        name
        for name, ids in answered(kept, store).items()
        if (found[name] if name in found else not ids) and name not in leaking
    }


def flips(kept: Any, store: str, step: int = 1) -> tuple[int, int, int]:
    """Positive probes that both could take, those gained and those lost."""
    before, after = recalled(kept, kept["figures"]["baseline"]), recalled(kept, store)
    names = [name for name in before if name in after][::step]
    gained = sum(after[name] and not before[name] for name in names)
    return len(names), gained, sum(before[name] and not after[name] for name in names)


def score_end(count: float, n: float, sign: int) -> float:
    """One end of Wilson's interval; of 0 seen, the share that hides from n with one in twenty."""
    if sign > 0 and count == 0:
        return 1 - 0.05 ** (1 / n)
    share, squared = count / n, Z * Z
    half = Z * sqrt(share * (1 - share) / n + squared / (4 * n * n))
    return (share + squared / (2 * n) + sign * half) / (1 + squared / n)


def net_loss(n: float, gained: float, lost: float) -> tuple[float, float]:
    """Newcombe's ends of the net loss: the distances of both shares, as sides of a triangle."""
    p, q = lost / n, gained / n
    low = p - q - hypot(p - score_end(lost, n, -1), score_end(gained, n, 1) - q)
    return low, p - q + hypot(score_end(lost, n, 1) - p, q - score_end(gained, n, -1))


def mid_p(gained: int, lost: int) -> float:
    """Of so many fair coins: the chance of more losses, and half that of just as many."""
    coins = gained + lost
    more = fsum(comb(coins, lost) for lost in range(lost + 1, coins + 1))
    return (more + comb(coins, lost) / 2) / 2**coins


def test_it_runs_without_a_word_of_complaint(ran):
    check_outputs(ran[0], n_images=3)


def test_the_means_are_those_of_a_slow_second_definition(kept):
    for store, said in kept["figures"]["wide"].items():
        assert said["recall_all"] == pytest.approx(recall(kept, store))
        assert said["mrr"] == pytest.approx(mrr(kept, store))
        groups = expected_groups(kept, store)
        silent = [not ids for name, ids in answered(kept, store).items() if name not in groups]
        assert said["abstention"] == pytest.approx(sum(silent) / len(silent))


def test_a_leak_is_counted_shown_and_fails_the_comparison_however_much_is_recalled(kept):
    shown = Counter(row[0] for row in kept["figures"]["leaked"])
    for store, said in kept["figures"]["wide"].items():
        assert said["leaks"] == len(leaks(kept, store)) == shown[store]
        assert said["contract"] == 0
    assert [store for store in shown if shown[store]] == ["sqlite-plain"]
    plain = kept["said"]["sqlite-plain"]
    assert plain["word"] == "FAIL"
    assert "leaked" in plain["reason"]
    assert abs(recall(kept, "sqlite-plain") - recall(kept, "sqlite")) < 0.05


def test_lost_and_gained_are_the_differences_of_what_passes(kept):
    baseline = kept["figures"]["baseline"]
    choice = json.loads(kept["figures"]["choice"])
    before = passing(kept, baseline)
    for store in set(kept["figures"]["wide"]) - {baseline}:
        after = passing(kept, store)
        assert set(kept["said"][store]["lost"]) == before - after
        assert set(kept["said"][store]["gained"]) == after - before
        assert choice[store] == {"lost": len(before - after), "gained": len(after - before)}


def test_a_probe_that_moved_has_the_cause_of_the_side_on_which_it_fails(kept):
    baseline = kept["figures"]["baseline"]
    moved = json.loads(kept["figures"]["moved"])
    for store, probe, change, kind, cause in moved:
        failing = store if change == "lost" else baseline
        assert (kind == "negative") == (probe not in expected_groups(kept, baseline))
        taken = answered(kept, failing)
        assert (cause is None) == (probe not in taken)
        if cause == "leaked":
            assert probe in {name for name, _ in leaks(kept, failing)}
        elif cause is not None:
            assert (cause == "did_not_abstain") == (kind == "negative")
    assert len(moved) == sum(
        len(kept["said"][store][change])
        for store in kept["figures"]["wide"]
        if store != baseline
        for change in ("lost", "gained")
    )


def test_interval_bound_and_p_value_by_their_formulas(kept):
    for store in set(kept["figures"]["wide"]) - {kept["figures"]["baseline"]}:
        said = kept["said"][store]
        n, gained, lost = flips(kept, store)
        assert said["flips"] == [n, gained, lost]
        low, high = net_loss(n, gained, lost)
        expected = [(gained - lost) / n, -high, -low, mid_p(gained, lost)]
        delta, below, above, _ = said["recall_all"]
        assert [delta, below, above] == pytest.approx(expected[:3])
        assert said["bound"] == pytest.approx(high)


def test_few_probes_cannot_tell_what_more_of_them_can(kept):
    rival, suite = kept["figures"]["rival"], load(ROOT / "probes")
    assert rival == "hybrid"
    names = [probe.name for probe in suite if probe.is_positive]
    before, after = recalled(kept, kept["figures"]["baseline"]), recalled(kept, rival)
    for step, size in kept["figures"]["sizes"].items():
        said = kept["said"][step]
        chosen = names[:: int(step)]
        gained = sum(after[name] and not before[name] for name in chosen)
        lost = sum(before[name] and not after[name] for name in chosen)
        assert said["flips"] == [len(chosen), gained, lost] == [size, gained, 0]
        assert said["bound"] == pytest.approx(net_loss(size, gained, lost)[1])
        assert said["word"] == ("PASS" if said["bound"] < MARGIN else "CANNOT TELL")
        # as frequent as they were: so many are enough, one less is not
        at, below = (
            net_loss(more, gained * more / size, 0)[1]
            for more in (said["needed"], said["needed"] - 1)
        )
        assert at < MARGIN <= below
    assert [kept["said"][step]["word"] for step in ("8", "4")] == ["CANNOT TELL", "PASS"]


def test_the_floor_is_the_best_of_all_that_were_tried_by_hand(kept):
    told = {store: pair for store, _, *pair in kept["figures"]["best"]}
    assert set(told) == set(kept["figures"]["wide"])
    for store in (kept["figures"]["baseline"], kept["figures"]["rival"]):
        recall_at, abstention_at = told[store]
        groups = expected_groups(kept, store)
        k = {call["probe"]: call["k"] for call in rows(kept, store, "calls")}
        hits = sorted(rows(kept, store, "hits"), key=lambda hit: hit["rank"])
        tried = []
        for floor in {hit["score"] for hit in hits}:
            left: dict[str, list[str]] = {name: [] for name in answered(kept, store)}
            for hit in hits:
                if hit["score"] >= floor:
                    left[hit["probe"]].append(hit["record_id"])
            held = [
                all(group & set(left[name][: k[name]]) for group in groups[name].values())
                for name in left
                if name in groups
            ]
            silent = [not ids for name, ids in left.items() if name not in groups]
            tried.append(sum(held) / len(held) + sum(silent) / len(silent))
        assert recall_at + abstention_at == pytest.approx(max(tried))


def test_latency_is_a_geometric_mean_of_ratios(kept):
    before = {
        call["probe"]: call["latency_ms"]
        for call in rows(kept, kept["figures"]["baseline"], "calls")
    }
    for store in set(kept["figures"]["wide"]) - {kept["figures"]["baseline"]}:
        logs = [
            log(call["latency_ms"] / before[call["probe"]])
            for call in rows(kept, store, "calls")
            if call["status"] == "ok"
        ]
        ratio, n = kept["said"][store]["latency"]
        assert (ratio, n) == (pytest.approx(exp(fsum(logs) / len(logs))), len(logs))


def test_what_leaks_stands_last_however_much_it_recalls(kept):
    assert kept["figures"]["order"][0] == kept["figures"]["rival"]
    assert kept["figures"]["order"][-1] == "sqlite-plain"


def test_the_formulas_by_hand():
    # four losses and no gain: all four coins fall so, 1/16, of which half counts
    assert mid_p(0, 4) == pytest.approx(1 / 32)
    # nothing flips: 0.95 of samples of 29 show a change of one in ten, 1 - 0.05^(1/29) = 0.0982
    assert net_loss(29, 0, 0)[1] == pytest.approx(1 - 0.05 ** (1 / 29))
    assert net_loss(29, 0, 0)[1] < 0.1 < net_loss(28, 0, 0)[1]
