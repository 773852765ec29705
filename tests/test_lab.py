"""The drilldown in a real JupyterLab: it answers, and nothing of others runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from grown import drift_probes, grown
from lab import Lab, opened, running
from report_fixtures import PAYLOADS, VALID, frame, hit, manifest

from memeval import frames
from memeval.files.runfiles import save_run
from memeval.probe import Probe
from memeval.record import Record
from memeval.runs import Run
from memeval.simulation import save_simulation
from memeval.suite import Suite
from memeval.widgets import explore
from memeval.widgets.explorer import WIDGET_VIEW

pytestmark = pytest.mark.browser
CELLS = (
    "import memeval as me\nfrom memeval.widgets import explore",
    "run = me.load_run('run.json')\nexplore(run, simulation='simulation.json')",
)
DARK = "JupyterLab Dark"
KERNEL = {"kernelspec": {"name": "python3", "display_name": "python3", "language": "python"}}


def hostile() -> Run:
    """A probe per payload: k is 1, and its record came back at rank 2, behind another payload."""
    names = [f"{n} {''.join(c for c in text if c.isprintable())[:60]}"
             for n, text in enumerate(PAYLOADS)]  # fmt: skip
    probes = [
        Probe(name, text, [Record("r1", text), Record("r2", PAYLOADS[1])], ["r1"], k=1,
              tags=[name[:20]], why=text)
        for name, text in zip(names, PAYLOADS, strict=True)
    ]  # fmt: skip
    hits = [
        row
        for name, text in zip(names, PAYLOADS, strict=True)
        for row in (
            hit(name, 1, "h1", PAYLOADS[3] + text, score=0.9),
            hit(name, 2, "r1", text, score=0.5),
        )
    ]
    calls = [{"probe": name, "k": 1, "status": "ok", "latency_ms": 1.0} for name in names]
    causes = [
        {"probe": name, "cause": "outranked", "evidence": text, "rank_found": 2,
         "displaced_by": text, "next_step": text}
        for name, text in zip(names, PAYLOADS, strict=True)
    ]  # fmt: skip
    suite = Suite.of(probes)
    told = manifest(store=PAYLOADS[0], k=1, capabilities={"score_order": "high"})
    return Run(
        frame(hits, frames.HITS), frame(calls, frames.CALLS), suite.qrels(), told, suite, VALID,
        causes=frame(causes, frames.CAUSES),
    )  # fmt: skip


@pytest.fixture(scope="module")
def lab(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")
    pytest.importorskip("ipywidgets", reason="ipywidgets is not installed")
    with running(tmp_path_factory.mktemp("lab")) as server:
        write_notebook(server.root)
        yield server


def write_notebook(root: Path) -> None:
    """The notebook, the run and the simulation that it loads."""
    run = hostile()
    save_run(run, root / "run.json")
    rows = drift_probes(probes=2)
    names = {old: p.name for old, p in zip(rows["probe"].unique(), run.suite, strict=False)}
    save_simulation(
        grown(drift_probes=rows.assign(probe=rows["probe"].map(names))), root / "simulation.json"
    )
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=KERNEL)
    nbformat.write(notebook, root / "explore.ipynb")
    as_saved(run, root / "saved.ipynb")


def as_saved(run: Run, path: Path) -> None:
    """A notebook as it was saved elsewhere: outputs, no widget state, not trusted here."""
    bundle = explore(run)._repr_mimebundle_()
    bundle[WIDGET_VIEW] = {"version_major": 2, "version_minor": 0, "model_id": "gone"}
    output = nbformat.v4.new_output("execute_result", data=bundle, execution_count=1)
    cell = nbformat.v4.new_code_cell("explore(run)", outputs=[output], execution_count=1)
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata=KERNEL), path)


def test_the_drilldown_answers_in_a_live_notebook_and_nothing_hostile_runs(
    lab: Lab, browser: Any, tmp_path: Path
) -> None:
    with opened(lab, browser, "explore.ipynb") as notebook:
        page = notebook.page
        cells = notebook.run_all()
        assert [cell["count"] for cell in cells] == [1, 2]
        assert [cell["errors"] for cell in cells] == [[], []]
        notebook.until("0 <script>window.pwned=1</script>")
        assert page.locator(".widget-select select option").count() == len(PAYLOADS)
        page.locator(".widget-select select").select_option(index=10)
        notebook.until("costs $5 and then $10")
        assert page.locator(".memeval mjx-container").count() == 0
        page.screenshot(path=tmp_path / "light.png", full_page=True)
        handle = page.locator(".widget-slider .noUi-handle").first
        handle.focus()
        handle.press("ArrowRight")
        notebook.until("at k = 1")
        handle.press("ArrowRight")
        notebook.until("18 of 18", ".memeval-head")
        notebook.until("at k = 2")
        notebook.theme(DARK)
        page.screenshot(path=tmp_path / "dark.png", full_page=True)
        for index in range(len(PAYLOADS)):
            page.locator(".widget-select select").select_option(index=index)
            notebook.until(f"{index} ")
        page.locator(".widget-text input").first.fill("no such word")
        notebook.until("No probe is left", ".memeval-told")
        assert page.evaluate("() => window.pwned") is None
        assert notebook.faults == []


def test_a_notebook_that_is_not_trusted_shows_the_static_drilldown(
    lab: Lab, browser: Any, tmp_path: Path
) -> None:
    with opened(lab, browser, "saved.ipynb") as notebook:
        page = notebook.page
        notebook.until("outranked (18)", ".jp-OutputArea-output")
        page.locator(".jp-OutputArea summary", has_text="10 costs $5").click()
        assert (
            page.get_by_text("costs $5 and then $10, $\\foo$ and \\(x\\)", exact=True).count() > 1
        )
        assert page.locator(".jp-OutputArea mjx-container").count() == 0
        page.screenshot(path=tmp_path / "untrusted.png")
        assert page.evaluate("() => window.pwned") is None
        assert notebook.faults == []
