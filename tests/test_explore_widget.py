"""The live view without a kernel: what is set is answered, and nothing is written unasked."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from grown import drift_probes, grown
from report_fixtures import INVALID, PAYLOADS, diagnosed_run, hostile_run, make_run
from test_exploring import many

from memeval.errors import MemevalError
from memeval.loading import load, load_text
from memeval.simulation import save_simulation
from memeval.widgets import explore, explorer, frontend
from memeval.widgets.panel import MOST_LISTED, Panel

ROOT = Path(__file__).resolve().parent.parent
ipywidgets = pytest.importorskip("ipywidgets", reason="ipywidgets is not installed")


def labels(panel: Panel) -> list[str]:
    return [label for label, _ in panel.probes.options]


def parts(widget: Any) -> Iterator[Any]:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from parts(child)


def test_the_view_begins_with_the_failing_probes_and_the_first_of_them() -> None:
    panel = explore(diagnosed_run()).panel
    assert labels(panel) == [
        "✗ neighbour · leaked 1 record", "✗ answers-anyway · broke the contract",
        "✗ cafe-or-bar · missed", "✗ search-breaks · failed",
    ]  # fmt: skip
    assert panel.picked == "neighbour"
    assert "Who has the key?" in panel.pane.value
    assert "4 probes" in panel.found.value
    assert "3 of 7" in panel.head.value


def test_what_explore_is_told_is_what_the_filter_begins_with() -> None:
    panel = explore(diagnosed_run(), text="lives", status="all", tag="stale").panel
    assert (panel.text.value, panel.tag.value, panel.status.value) == ("lives", "stale", "all")
    assert panel.picked == "old-address"
    assert explore(diagnosed_run(), cause="cut").panel.cause.value == "cut"  # none failed of it


def test_each_part_of_the_filter_narrows_the_list() -> None:
    panel = explore(diagnosed_run()).panel
    panel.status.value = "all"
    assert len(labels(panel)) == 8
    panel.tag.value = "stale"
    assert panel.picked == "old-address"
    assert "Where does Ana live?" in panel.pane.value
    panel.tag.value = ""
    panel.cause.value = "outranked"
    assert panel.picked == "cafe-or-bar"
    panel.text.value = "no such word"
    assert panel.picked is None and panel.pane.value == ""
    assert "No probe is left: loosen the filter." in panel.found.value
    panel.text.value = ""
    assert panel.picked == "cafe-or-bar"


def test_picking_shows_another_probe_and_a_filter_that_leaves_it_keeps_it() -> None:
    panel = explore(diagnosed_run()).panel
    panel.probes.value = "cafe-or-bar"
    assert "Where do we meet?" in panel.pane.value
    panel.status.value = "all"
    assert panel.picked == "cafe-or-bar"
    panel.status.value = "passed"
    assert panel.picked == "lunch-spot"
    assert "Where is lunch?" in panel.pane.value


def test_stepping_k_changes_the_probe_the_list_and_the_run() -> None:
    panel = explore(diagnosed_run(), status="all", text="lunch").panel
    assert panel.k.options[0][0] == "as asked (3)"
    assert labels(panel) == ["✓ lunch-spot · passed"]
    panel.k.index = 1
    assert labels(panel) == ["✗ lunch-spot · missed"]
    assert "at k = 1" in panel.pane.value and "below the top k" in panel.pane.value
    # lunch-spot and old-address stand at rank 2; nobody-knows stays.
    assert "1 of 7" in panel.head.value and "3 of 7" in panel.head.value
    assert "0 probes gained, 2 lost" in panel.head.value
    panel.k.index = 0
    assert labels(panel) == ["✓ lunch-spot · passed"]
    assert "3 of 7" in panel.head.value and "lost" not in panel.head.value


def test_stepping_the_floor_drops_hits_and_lists_what_changes() -> None:
    panel = explore(diagnosed_run(), status="changed").panel
    assert "No probe is left" in panel.found.value
    floors = [label for label, _ in panel.floor.options]
    assert floors == ["none", "≥ 0.1", "≥ 0.5", "≥ 0.8", "≥ 0.9"]
    panel.floor.index = 3
    assert labels(panel) == ["✗ lunch-spot · missed"]
    assert "dropped by the floor, was rank 2" in panel.pane.value
    panel.floor.index = 0
    assert labels(panel) == []


def test_where_scores_have_no_order_there_is_no_control_but_a_reason() -> None:
    panel = explore(make_run()).panel
    assert panel.floor not in list(parts(panel.box))
    assert panel.k in list(parts(panel.box))
    said = " ".join(str(part.value) for part in parts(panel.box)
                    if isinstance(part, ipywidgets.HTML))  # fmt: skip
    assert "No floor: the scores have no order" in said


def test_a_list_that_offers_nothing_is_not_there_and_missing_causes_are_said() -> None:
    panel = explore(many(2)).panel  # without tags and causes
    shown = list(parts(panel.box))
    assert panel.tag not in shown and panel.cause not in shown and panel.status in shown
    assert "me.diagnose(run, store)" in panel.head.value
    assert "me.diagnose" not in explore(diagnosed_run()).panel.head.value


def test_of_many_probes_the_first_are_listed_and_the_rest_counted() -> None:
    panel = explore(many(MOST_LISTED + 50)).panel
    assert len(labels(panel)) == MOST_LISTED
    assert "250 probes, 50 more than are listed: narrow the filter" in panel.found.value
    panel.text.value = "probe-249"
    assert panel.picked == "probe-249"


def test_where_nothing_failed_the_view_says_so() -> None:
    run = many(2)
    passed = replace(run, hits=run.hits.assign(record_id="r1"))
    made = explore(passed)
    assert "No probe failed" in made.panel.found.value
    assert repr(made) == "Explorer of 2 probes on shelf: no probe failed"
    made.panel.status.value = "passed"
    assert made.panel.picked == "probe-0"


def test_an_invalid_suite_has_words_and_no_control() -> None:
    made = explore(diagnosed_run(validity=INVALID))
    shown = list(parts(made.widget))
    assert {type(part).__name__ for part in shown} == {"VBox", "HTML"}
    assert "withheld" in shown[1].value
    assert "INVALID" in repr(made) and "neighbour" not in repr(made)


def test_a_probe_is_written_only_when_asked_and_only_below(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    old = b"- {name: old, query: Old?, given: [{id: a, text: Old.}], expect: [a]}\n"
    path.write_bytes(old)
    panel = explore(diagnosed_run()).panel
    draft = panel.draft
    panel.probes.value = "cafe-or-bar"
    draft.start.click()
    assert load_text(draft.text.value)[0].name == "cafe-or-bar-again"
    assert draft.start.layout.display == "none"
    draft.path.value = "  "
    draft.add.click()
    assert "Nothing was written: found no file" in draft.said.value
    draft.path.value = str(path)
    assert path.read_bytes() == old
    draft.text.value = draft.text.value.replace("cafe-or-bar-again", "meeting-place")
    draft.add.click()
    assert path.read_bytes().startswith(old)
    assert [probe.name for probe in load(path)] == ["old", "meeting-place"]
    assert "Added meeting-place" in draft.said.value and str(path) in draft.said.value
    assert draft.text.value == "" and draft.start.layout.display == ""
    whole = path.read_bytes()
    draft.start.click()
    draft.text.value = "- name: old"
    draft.add.click()
    assert "Nothing was written:" in draft.said.value and path.read_bytes() == whole


def test_a_draft_is_put_away_when_another_probe_is_picked() -> None:
    panel = explore(diagnosed_run()).panel
    panel.draft.start.click()
    assert panel.draft.text.value
    panel.probes.value = "cafe-or-bar"
    assert panel.draft.text.value == "" and panel.draft.start.layout.display == ""
    panel.draft.start.click()
    panel.k.index = 1
    assert "cafe-or-bar" in panel.draft.text.value  # the same probe: what was typed stays
    panel.draft.cancel.click()
    assert panel.draft.text.value == ""
    panel.text.value = "no such word"
    panel.draft.start.click()
    assert "Pick a probe first." in panel.draft.said.value


def test_hostile_text_stands_only_where_it_is_text() -> None:
    panel = explore(hostile_run(), status="all").panel
    for n in range(len(PAYLOADS)):
        panel.probes.index = n
        panel.draft.start.click()
        for part in parts(panel.box):
            told = {k: v for k, v in part.get_state().items() if isinstance(v, str | list | tuple)}
            # What goes to the browser: a half character would end the message.
            json.dumps(told, ensure_ascii=False).encode("utf-8")
            if isinstance(part, ipywidgets.HTML):
                assert part.value == "" or part.value.startswith('<div class="memeval')
                assert "<script" not in part.value and "<img" not in part.value
            assert not isinstance(part, ipywidgets.Label | ipywidgets.HTMLMath)
            description = getattr(part, "description", "")
            assert "pwned" not in description and "$" not in description


def test_a_simulation_may_be_a_file(tmp_path: Path) -> None:
    run = diagnosed_run()
    rows = drift_probes(probes=1).assign(probe="neighbour")
    path = save_simulation(grown(drift_probes=rows), tmp_path / "simulation.json")
    made = explore(run, simulation=path)
    assert "As the store grew" in made.panel.pane.value
    assert "passes every time" in made.panel.pane.value


def test_the_methods_say_what_the_view_says() -> None:
    made = explore(diagnosed_run())
    assert made.matches(status="changed", k=1) == ("lunch-spot", "old-address")
    assert made.standing(k=1).n_passed == 1
    assert made.view("lunch-spot", k=1).detail.row.outcome == "missed"
    assert "cafe-or-bar-again" in made.draft("cafe-or-bar").text


def test_outside_of_a_notebook_the_bundle_is_static() -> None:
    bundle = explore(diagnosed_run())._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "neighbour: leaked 1 record (leaked)" in bundle["text/plain"]
    assert "Where do we meet?" in bundle["text/html"]
    assert "pip install" not in bundle["text/html"]


def test_in_a_kernel_the_bundle_has_the_live_view_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorer, "in_kernel", lambda: True)
    made = explore(diagnosed_run())
    bundle = made._repr_mimebundle_()
    assert bundle[explorer.WIDGET_VIEW]["model_id"] == made.widget.model_id
    assert {"text/plain", "text/html"} < set(bundle)


def test_without_ipywidgets_the_static_view_stays_and_says_how_to_get_the_live_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(explorer, "installed", lambda: False)
    monkeypatch.setattr(explorer, "in_kernel", lambda: True)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    made = explore(diagnosed_run())
    bundle = made._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "memeval-toolkit[notebook]" in bundle["text/html"]
    with pytest.raises(MemevalError, match=r"pip install 'memeval-toolkit\[notebook\]'"):
        _ = made.widget


def test_looking_without_a_live_view_imports_no_ipywidgets() -> None:
    code = (
        "import sys, memeval.widgets\n"
        "assert 'pandas' not in sys.modules\n"
        "from memeval.widgets import explore\n"
        "assert not {'ipywidgets', 'IPython'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
    assert not frontend.in_kernel()
