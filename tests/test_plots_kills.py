"""The kill matrix, judged by what its artists hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from test_plots import HOSTILE

from memeval.errors import FrameError
from memeval.plots import ASIDE, BROKEN, KEPT, plot_kills
from memeval.plots.kills import LOOKS
from tests.mutants import INVALID, kills, made, saboteurs


@pytest.fixture(autouse=True)
def _no_window() -> Iterator[None]:
    before = dict(mpl.rcParams)
    with mpl.rc_context({"backend": "agg"}):
        yield
        plt.close("all")
    assert {k: v for k, v in mpl.rcParams.items() if before[k] != v} == {}


def axes() -> Axes:
    return Figure().subplots()


def names(labels: Any) -> list[str]:
    return [label.get_text() for label in labels]


def cells(ax: Axes) -> dict[tuple[str, str], str]:
    """What each coloured cell says by its colour: saboteur and probe to the word."""
    (mesh,) = [one for one in ax.collections if hasattr(one, "get_coordinates")]
    values = mesh.get_array().reshape(len(ax.get_yticks()), -1)
    mesh.update_scalarmappable()
    colours = mesh.get_facecolor().reshape((*values.shape, 4))
    known = {mpl.colors.to_hex(colour).upper(): word for word, (colour, _) in LOOKS.items()}
    down, across = names(ax.get_yticklabels()), names(ax.get_xticklabels())
    found = {}
    for y, x in np.ndindex(*values.shape):
        word = known.get(mpl.colors.to_hex(colours[y, x]).upper())
        if word:
            found[down[y], across[x]] = word
    return found


def marks(ax: Axes) -> dict[tuple[str, str], str]:
    """What each mark says by its shape."""
    down, across = names(ax.get_yticklabels()), names(ax.get_xticklabels())
    return {
        (down[int(y)], across[int(x)]): str(one.get_label())
        for one in ax.collections
        if str(one.get_label()) in LOOKS
        for x, y in one.get_offsets()
    }


def wanted(frame: pd.DataFrame) -> dict[tuple[str, str], str]:
    return {(row.saboteur, row.probe): row.by for row in frame.itertuples()}


@pytest.mark.parametrize("idle", [True, False])
def test_colours_and_marks_say_what_the_frame_says(idle: bool) -> None:
    ax = plot_kills(made(), axes(), idle=idle)
    assert cells(ax) == wanted(kills()) == marks(ax)
    assert len({marker for _, marker in LOOKS.values()}) == len(LOOKS)


def test_a_large_random_matrix_is_drawn_cell_by_cell() -> None:
    rng = np.random.default_rng(7)
    rows = [
        (f"s{s:02}", f"p{p:03}", rng.choice(list(LOOKS)))
        for s in range(43)
        for p in range(105)
        if rng.random() < s / 60
    ]
    frame = pd.DataFrame(rows, columns=["saboteur", "probe", "by"])
    depth = frame["saboteur"].value_counts()
    all_names = [f"s{s:02}" for s in range(43)]
    table = pd.DataFrame(
        {"saboteur": all_names, "applicable": True,
         "killed": [name in depth.index for name in all_names],
         "depth": [int(depth.get(name, 0)) for name in all_names]}
    )  # fmt: skip
    ax = plot_kills((frame, table), axes())
    assert cells(ax) == wanted(frame) == marks(ax)
    assert names(ax.get_yticklabels())[0] == "s00"  # the one that nobody kills


def test_survivors_stand_on_top_then_the_killed_by_depth_then_the_rest() -> None:
    ax = plot_kills(made(), axes())
    assert names(ax.get_yticklabels()) == [
        "scope_blind", "k_minus_1", "null", "slow", "reversed", "oldest", "words",
    ]  # fmt: skip
    assert names(ax.texts) == [
        "SURVIVES, must be killed", "SURVIVES", "killed by 3", "killed by 2", "killed by 1",
        "equivalent", "not applicable",
    ]  # fmt: skip
    assert [text.get_color() for text in ax.texts] == [BROKEN] * 2 + [KEPT] * 3 + [ASIDE] * 2
    assert ax.get_ylim() == (6.5, -0.5)
    assert ax.get_title(loc="left") == "Mutation: 3 of 5 killed, 2 SURVIVORS, 2 not counted"


def test_probes_that_kill_the_same_stand_side_by_side_and_idle_ones_last() -> None:
    # lunch and cats kill null and slow, tea null and reversed; what is slow comes last.
    ax = plot_kills(made(), axes())
    assert names(ax.get_xticklabels()) == ["tea", "cats", "lunch", "sheds", "skis"]
    assert ax.get_xlabel() == "probe (the last 2, in italics, kill nothing)"
    bare = plot_kills((kills(), saboteurs()), axes())
    assert names(bare.get_xticklabels()) == ["tea", "cats", "lunch"]
    assert bare.get_xlabel() == "probe"


def test_the_order_of_the_rows_of_the_frames_does_not_change_the_columns() -> None:
    mixed = kills().sample(frac=1, random_state=3), saboteurs()
    first = plot_kills((kills(), saboteurs()), axes())
    assert names(plot_kills(mixed, axes()).get_xticklabels()) == names(first.get_xticklabels())


def test_times_do_not_change_the_order_of_the_columns_that_other_faults_give() -> None:
    # b and d kill deep, a and c do not; slow, which is deeper still, parts a, b from c, d.
    rows = [("deep", "b", "ratchet"), ("deep", "d", "ratchet"),
            *(("slow", probe, "latency") for probe in "abc")]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["saboteur", "probe", "by"])
    table = pd.DataFrame({"saboteur": ["deep", "slow"], "applicable": True, "killed": True,
                          "depth": [2, 3]})  # fmt: skip
    ax = plot_kills((frame, table), axes())
    assert names(ax.get_yticklabels()) == ["slow", "deep"]
    assert names(ax.get_xticklabels()) == ["b", "d", "a", "c"]
    assert cells(ax) == wanted(frame)


def test_where_nothing_was_killed_the_rows_are_empty() -> None:
    table = saboteurs(killed=False, equivalent=False, applicable=True, depth=0)
    ax = plot_kills((kills().iloc[:0], table), axes())
    ax.figure.canvas.draw()
    assert cells(ax) == {} and marks(ax) == {}
    assert ax.get_title(loc="left") == "Mutation: 0 of 7 killed, 7 SURVIVORS"


def test_the_legend_tells_every_word() -> None:
    legend = plot_kills(made(), axes()).get_legend()
    assert names(legend.get_texts()) == [
        "killed by gate", "killed by contract", "killed by ratchet", "killed by latency",
    ]  # fmt: skip


def test_without_axes_one_figure_is_made_on_which_all_words_stand() -> None:
    long = [f"{name}-with-a-name-of-some-length" for name in ("lunch", "tea", "cats")]
    frame = kills().replace({"probe": dict(zip(("lunch", "tea", "cats"), long, strict=True))})
    ax = plot_kills((frame, saboteurs()))
    figure: Any = ax.figure
    assert plt.get_fignums() == [figure.number]
    figure.canvas.draw()
    box = figure.bbox
    shown = [*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels(), ax.get_legend(),
             ax.xaxis.label, ax.yaxis.label]  # fmt: skip
    for one in shown:
        drawn = one.get_window_extent()
        assert drawn.x0 >= -1 and drawn.y0 >= -1
        assert drawn.x1 <= box.x1 + 1 and drawn.y1 <= box.y1 + 1, one
    assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent().shrunk(0.9, 0.9))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_drawn_as_plain_text(text: str) -> None:
    frame = saboteurs()
    frame["saboteur"] = frame["saboteur"].replace("null", text)
    found = kills()
    found["saboteur"] = found["saboteur"].replace("null", text)
    found["probe"] = [f"{text}{n}" for n in range(len(found))]
    ax = plot_kills(made(kills=found, saboteurs=frame, idle=(text,)), axes())
    ax.figure.canvas.draw()
    for label in (*ax.get_yticklabels(), *ax.get_xticklabels()):
        assert not label.get_parse_math() and label.get_text().isprintable()
        assert len(label.get_text()) <= 48


def test_axes_are_given_back_and_the_input_is_not_changed() -> None:
    ax, found = axes(), made()
    assert plot_kills(found, ax) is ax
    pd.testing.assert_frame_equal(found.kills, kills())
    pd.testing.assert_frame_equal(found.saboteurs, saboteurs())
    assert plt.get_fignums() == []


@pytest.mark.parametrize("given", [None, "mutation", kills(), (kills(),)])
def test_what_is_no_mutation_is_refused_with_what_to_do(given: Any) -> None:
    with pytest.raises(FrameError, match=r"wanted a Mutation.*memeval\.mutate"):
        plot_kills(given, axes())


def test_frames_that_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(FrameError, match="wanted also"):
        plot_kills((saboteurs(), kills()), axes())
    ax = plot_kills((kills().iloc[:0], saboteurs().iloc[:0]), axes())
    assert "memeval.mutate" in ax.texts[0].get_text() and not ax.collections
    with pytest.raises(FrameError, match="found kills of slow, wanted"):
        plot_kills((kills(), saboteurs().query("saboteur != 'slow'")), axes())


def test_nothing_is_drawn_of_an_invalid_suite() -> None:
    with pytest.raises(FrameError, match="INVALID.*0.402.*mend the suite"):
        plot_kills(made(verdict=INVALID), axes())
