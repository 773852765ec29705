"""What every drawing keeps: a new one joins by its name in `memeval.plots.__all__`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from io import BytesIO
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from report_fixtures import INVALID, PAYLOADS, diagnosed_run, hostile_run

from memeval import frames, plots
from memeval.comparison import Comparison, compare
from memeval.drift import by_checkpoint
from memeval.errors import FrameError
from memeval.plots.described import DescribedFigure
from memeval.plots.lettering import lettered
from memeval.runs import Run
from tests.grown import drift_probes, grown
from tests.mutants import INVALID as MUTATION_INVALID
from tests.mutants import made
from tests.outcome_sides import side

NAMES = [name for name in plots.__all__ if name.startswith("plot_")]
EVIL = [*PAYLOADS, r"$\foo$", "_private", "木箱 \U0001f9e0\ufe0f \U000f0000", "x" * 999]
N = len(EVIL)
# All at once, within what is left of a long name.
WORST = "_p $\\foo$ \ud800 木 \U0001f9e0\U000f0000 \x1b[31m\n \u202e <b>"
# Only of these a whole run is taken, so only these can know that its numbers are withheld.
OF_RUNS = ["calls", "causes", "hits", "recall_curve", "results", "scopes", "summary", "tags",
           "threshold_curve"]  # fmt: skip
OF_SIMULATIONS = ["drift", "latency_growth", "retention", "store_size", "survival"]


def evil(schema: frames.Schema, **columns: Any) -> pd.DataFrame:
    return frames.conform(pd.DataFrame(columns, index=range(N)), schema)


@lru_cache(maxsize=1)
def hostile() -> Run:
    return hostile_run()


@lru_cache(maxsize=1)
def compared() -> Comparison:
    before = {name: 1 for name in EVIL}
    return compare(side(before), side({name: n % 4 or None for n, name in enumerate(EVIL)}))


def scopes() -> pd.DataFrame:
    return evil(frames.SCOPE_PAIRS, asked=EVIL, other=EVIL[::-1], kind="syntax", n_probes=3,
                n_leaked=[1, 0] * (N // 2) + [0] * (N % 2))  # fmt: skip


def controls() -> pd.DataFrame:
    return evil(frames.CONTROLS, store=EVIL, rule="C1", metric=EVIL, value=0.1, chance=0.2,
                bound=0.3, must="at_most", applicable=True, passed=True, blames="none")  # fmt: skip


def mutated() -> tuple[pd.DataFrame, pd.DataFrame]:
    return (
        evil(frames.KILLS, saboteur=EVIL, probe=EVIL[::-1], by="ratchet"),
        evil(frames.SABOTEURS, saboteur=EVIL, applicable=True, killed=True, depth=1),
    )


def metric_of(draw: Callable[..., Axes]) -> Callable[..., Axes]:
    """The metric has a hostile name."""

    def drawn(given: Any, ax: Axes | None = None) -> Axes:
        return draw(given.assign(metric=WORST), WORST, ax) if len(given) else draw(given, ax=ax)

    return drawn


def labelled(draw: Callable[..., Axes]) -> Callable[..., Axes]:
    """Names of two sides are hostile."""

    def drawn(given: Any, ax: Axes | None = None) -> Axes:
        several = isinstance(given, list)
        return draw(given, ax=ax, labels=[WORST, "x" * 999] if several else None)

    return drawn


def history() -> pd.DataFrame:
    return evil(frames.HISTORY, commit=[f" {text}" for text in EVIL], metric="x", value=0.5)


def drift() -> pd.DataFrame:
    rows = by_checkpoint(drift_probes())
    return rows[rows["metric"].eq("mrr")].reset_index(drop=True)


# Name of the plot: how it is called, something hostile, something empty.
CASES: dict[str, tuple[Callable[..., Axes], Callable[[], Any], Callable[[], Any]]] = {
    "calls": (plots.plot_calls, hostile, lambda: frames.empty(frames.CALLS)),
    "causes": (plots.plot_causes, hostile, lambda: frames.empty(frames.CAUSES)),
    "changes": (plots.plot_changes, compared, lambda: frames.empty(frames.CHANGES)),
    "comparison": (
        plots.plot_comparison,
        lambda: replace(compared(), frame=evil(frames.COMPARISON, metric=EVIL, baseline=0.5,
                                               current=0.5, delta=0.1, low=0.0, high=0.2)),
        lambda: replace(compared(), frame=frames.empty(frames.COMPARISON)),
    ),
    "controls": (plots.plot_controls, controls, lambda: frames.empty(frames.CONTROLS)),
    "drift": (metric_of(plots.plot_drift), drift, lambda: frames.empty(frames.DRIFT)),
    "history": (
        metric_of(plots.plot_history), history, lambda: frames.empty(frames.HISTORY)
    ),
    "hits": (plots.plot_hits, hostile, lambda: without_scores()),
    "kills": (
        plots.plot_kills, mutated,
        lambda: (frames.empty(frames.KILLS), frames.empty(frames.SABOTEURS)),
    ),
    "latency_growth": (
        labelled(plots.plot_latency_growth), lambda: [grown(), grown()],
        lambda: frames.empty(frames.CHECKPOINTS),
    ),
    "recall_curve": (
        plots.plot_recall_curve,
        lambda: evil(frames.RECALL_CURVE, k=1, metric=EVIL, value=0.5, n=9),
        lambda: frames.empty(frames.RECALL_CURVE),
    ),
    "results": (plots.plot_results, hostile, lambda: frames.empty(frames.RESULTS)),
    "retention": (
        metric_of(plots.plot_retention), drift, lambda: frames.empty(frames.DRIFT)
    ),
    "scopes": (plots.plot_scopes, scopes, lambda: frames.empty(frames.SCOPE_PAIRS)),
    "slopes": (
        plots.plot_slopes,
        lambda: evil(frames.SLOPES, metric=EVIL, curve="growth", slope_per_1k=-0.1, low=-0.2,
                     high=0.0, n=9, verdict="decline"),
        lambda: frames.empty(frames.SLOPES),
    ),
    "store_size": (
        labelled(plots.plot_store_size), lambda: [grown(), grown()],
        lambda: frames.empty(frames.SIZES),
    ),
    "summary": (
        plots.plot_summary,
        lambda: evil(frames.SUMMARY, metric=EVIL, value=0.5, low=0.4, high=0.6, n=9, target=0.4,
                     better="higher"),
        lambda: frames.empty(frames.SUMMARY),
    ),
    "survival": (
        labelled(plots.plot_survival), lambda: [grown(), grown()],
        lambda: frames.empty(frames.DRIFT_PROBES),
    ),
    "survey": (
        plots.plot_survey,
        lambda: evil(frames.SURVEY, suite=EVIL, store=EVIL, verdict="FAIL", recall_all=0.5,
                     leaks=2),
        lambda: frames.empty(frames.SURVEY),
    ),
    "tags": (
        plots.plot_tags,
        lambda: evil(frames.TAG_SUMMARY, tag=EVIL, n_positive=3, recall_all=0.5),
        lambda: frames.empty(frames.TAG_SUMMARY),
    ),
    "threshold_curve": (
        plots.plot_threshold_curve, hostile, lambda: frames.empty(frames.THRESHOLD_CURVE)
    ),
}  # fmt: skip
# Every table is drawn, or there is a reason why a drawing of it would say nothing.
DRAWN = {
    "hits": "hits", "calls": "calls", "results": "results", "summary": "summary",
    "controls": "controls", "causes": "causes", "recall_curve": "recall_curve",
    "threshold_curve": "threshold_curve", "tag_summary": "tags", "comparison": "comparison",
    "changes": "changes", "history": "history", "kills": "kills", "saboteurs": "kills",
    "scope_pairs": "scopes", "drift": "drift", "drift_probes": "survival", "slopes": "slopes",
    "checkpoints": "latency_growth", "sizes": "store_size", "survey": "survey",
}  # fmt: skip
NOT_DRAWN = {
    "qrels": "what was asked for, not what came of it; plot_hits shows both together",
    "probes": "a list of texts",
    "tags": "a list of words; plot_tags shows what they come to",
    "faults": "sentences to be read one by one",
    "candidates": "sentences to be read one by one",
    "store_checks": "sentences to be read one by one",
    "overlap": "one number a probe, an aid to write paraphrases: the table is sorted by it",
    "outcomes": "one side of a comparison; plot_changes shows both",
    "kept_runs": "a directory of files",
    "relations": "trials by count: the few numbers stand in its table, violations in words",
    "violations": "sentences to be read one by one",
    "looks": "a handful of rows; their number matters, which the verdict tells",
}


def without_scores() -> Run:
    run = diagnosed_run()
    return replace(run, hits=run.hits.assign(score=float("nan")))


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    with mpl.rc_context({"backend": "agg"}):
        yield
        plt.close("all")


def test_every_drawing_and_every_table_has_its_place() -> None:
    assert sorted(CASES) == [name.removeprefix("plot_") for name in NAMES]
    assert sorted([*DRAWN, *NOT_DRAWN]) == sorted(frames.SCHEMAS)
    assert set(DRAWN.values()) <= set(CASES)


def drawing(ax: Axes) -> None:
    """What holds for everything that is drawn."""
    ax.figure.savefig(BytesIO(), dpi=20)
    texts = [text for text in ax.findobj(Text) if text.get_text()]
    assert not [text for text in texts if text.get_parse_math() and "$" in text.get_text()]
    assert all(text.get_text().replace("\n", " ").isprintable() for text in texts)
    assert max(len(text.get_text()) for text in texts) <= 500
    found = {to_hex(line.get_color()) for line in ax.lines if isinstance(line.get_color(), str)}
    found |= {to_hex(patch.get_facecolor()) for patch in ax.patches}
    assert len({one for one in found if len({one[1:3], one[3:5], one[5:]}) > 1}) <= 8
    told = plots.describe(ax)
    assert ax.get_title(loc="left") in told and told.isprintable() and len(told) < 1500


@pytest.mark.parametrize("name", CASES)
def test_each_draws_hostile_names_into_the_axes_given_and_nothing_else(name: str) -> None:
    draw, hostile_input, _ = CASES[name]
    there = plt.figure()
    ax = Figure().subplots()
    mine = ax.text(0.5, 0.5, "$x$", gid="mine")
    given = hostile_input()
    before = dict(mpl.rcParams)
    assert draw(given, ax=ax) is ax
    assert {k: v for k, v in mpl.rcParams.items() if before[k] != v} == {}
    assert plt.gcf() is there and plt.get_fignums() == [there.number]
    assert mine.get_parse_math() and ax.findobj(lambda one: one.get_gid() == "mine") == [mine]
    mine.remove()
    drawing(ax)


@pytest.mark.parametrize("name", CASES)
def test_each_says_in_words_why_there_is_nothing_to_draw(name: str) -> None:
    draw, _, nothing = CASES[name]
    ax = draw(nothing())
    drawing(ax)
    assert not ax.lines and len(ax.texts) == 1 and len(ax.texts[0].get_text()) > 20
    assert isinstance(ax.figure, DescribedFigure)
    assert " ".join(ax.texts[0].get_text().split()) in plots.describe(ax)


@pytest.mark.parametrize("name", OF_RUNS)
def test_no_number_of_an_invalid_suite_is_drawn(name: str) -> None:
    bad = replace(diagnosed_run(), validity=INVALID)
    with pytest.raises(FrameError, match="a run that is INVALID.*0.402.*mend the suite"):
        getattr(plots, f"plot_{name}")(bad, ax=Figure().subplots())
    with pytest.raises(FrameError, match=rf"found int, wanted a.*plot_{name}"):
        getattr(plots, f"plot_{name}")(3, ax=Figure().subplots())


@pytest.mark.parametrize("name", OF_SIMULATIONS)
def test_no_number_of_a_simulation_of_an_invalid_suite_is_drawn(name: str) -> None:
    bad = grown(validity=INVALID)
    with pytest.raises(FrameError, match="a simulation that is INVALID.*0.402.*mend the suite"):
        getattr(plots, f"plot_{name}")(bad, ax=Figure().subplots())


def test_names_that_begin_with_an_underscore_stay_in_the_legend() -> None:
    frame = evil(frames.RECALL_CURVE, k=1, metric=EVIL, value=0.5, n=9)
    legend = plots.plot_recall_curve(frame, Figure().subplots()).get_legend()
    assert len(legend.get_texts()) == N
    assert " _private" in [text.get_text() for text in legend.get_texts()]


def test_what_no_font_can_draw_stands_as_its_code() -> None:
    assert lettered("a\U000f0000b") == "a<U+F0000>b"
    assert lettered("x" * 99, 5) == "xxxx…"


def test_the_sheet_holds_the_verdict_and_a_panel_for_each_question() -> None:
    run = diagnosed_run()
    sheet = plots.tear_sheet(run, simulation=grown(), comparison=compared(), mutation=made())
    assert sheet.get_suptitle().startswith(f"✗ FAIL: {run.manifest.store}, 8 probes")
    titles = [ax.get_title(loc="left").partition(":")[0] for ax in sheet.axes]
    assert titles == [
        "Summary", "Results", "Causes", "Scopes", "recall_all", titles[5], "Scores", "Searches",
        "recall_all", "latency_p95_ms", "FAIL", "Changes", "Mutation",
    ]  # fmt: skip
    told = {text for ax in sheet.axes for text in (t.get_text() for t in ax.texts)}
    value = run.summary.set_index("metric").loc["recall_all", "value"]
    assert f"{value:.3f}, target 0.85 MISSED" in told
    assert plots.describe(sheet).startswith(sheet.get_suptitle())
    assert plt.get_fignums() == []


def test_the_sheet_of_what_is_withheld_says_so_and_holds_no_number() -> None:
    bad = replace(diagnosed_run(), validity=INVALID)
    sheet = plots.tear_sheet(bad, simulation=grown(), comparison=compared())
    assert [ax.get_title(loc="left") for ax in sheet.axes] == [
        "The suite is invalid: no number is shown"
    ]
    assert sheet.get_suptitle().startswith("✗ INVALID") and not sheet.axes[0].lines
    hidden = plots.tear_sheet(
        diagnosed_run(), mutation=made(verdict=MUTATION_INVALID),
        simulation=grown(validity=INVALID),
        comparison=compare(side({"a": 1}), side({"a": 1}, validity=INVALID)),
    )  # fmt: skip
    titles = [ax.get_title(loc="left") for ax in hidden.axes]
    assert titles[-3:] == ["Drift: INVALID: no number is shown",
                           "Comparison: INVALID: no number is shown",
                           "Mutation: INVALID: no number is shown"]  # fmt: skip
    hostile_sheet = plots.tear_sheet(hostile())
    hostile_sheet.savefig(BytesIO(), dpi=20)
    with pytest.raises(FrameError, match=r"found str, wanted a Run"):
        plots.tear_sheet("run.json")  # type: ignore[arg-type]


def test_a_figure_carries_its_words_into_a_notebook() -> None:
    core = pytest.importorskip("IPython.core.formatters")
    ax = plots.plot_results(diagnosed_run())
    formatter = core.DisplayFormatter()
    formatter.formatters["image/png"].for_type(Figure, lambda figure: b"picture")
    data, metadata = formatter.format(ax.figure)
    assert data["text/plain"] == plots.describe(ax.figure)
    assert data["image/png"] == b"picture"
    assert metadata["image/png"] == {"alt": plots.describe(ax)}
