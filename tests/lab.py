"""A real JupyterLab: started in folders of its own, driven in a browser, ended by its own id."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {
        "fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True,
    },
    # cells that are out of sight stay in the page
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
}  # fmt: skip
FOLDERS = (
    "HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR",
    "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR",
)  # fmt: skip
START_S, STEP_MS = 120, 60_000
# The dot of the toolbar is idle before the kernel is connected; what is run then never runs.
READY = """() => {
  const panel = window.jupyterapp?.shell?.currentWidget;
  const context = panel?.sessionContext;
  return Boolean(context?.isReady && context.session?.kernel?.status === 'idle');
}"""
RUN_ALL = "() => window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => null)"
CELLS = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
  .filter(cell => cell.type === 'code')
  .map(cell => ({
    count: cell.executionCount,
    errors: cell.outputs.toJSON().filter(out => out.output_type === 'error').map(out => out.evalue),
  }))"""
THEME = "name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})"


@dataclass
class Lab:
    """A running server: its address, its token, and the folder of its notebooks."""

    url: str
    token: str
    root: Path

    def call(self, path: str, method: str = "GET") -> Any:
        """Ask the server's own interface."""
        request = urllib.request.Request(
            f"{self.url}{path}", method=method, headers={"Authorization": f"token {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            body = answer.read()
        return json.loads(body) if body else None


@contextmanager
def running(folder: Path) -> Iterator[Lab]:
    """Start a server in folders below `folder`, and end it."""
    with tempfile.TemporaryDirectory(prefix="lab") as runtime:
        yield from _running(folder, Path(runtime))


def _running(folder: Path, runtime: Path) -> Iterator[Lab]:
    """The same; the sockets of kernels lie in a place of their own, as a path has 107 bytes."""
    root, token = folder / "root", secrets.token_hex(16)
    root.mkdir(parents=True)
    env = os.environ | {name: str(folder / name.lower()) for name in FOLDERS}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH")]))
    for name in FOLDERS:
        Path(env[name]).mkdir()
    env["JUPYTER_RUNTIME_DIR"] = str(runtime)
    for plugin, values in SETTINGS.items():
        path = Path(env["JUPYTERLAB_SETTINGS_DIR"]) / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
        "--port=0", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}",
        "--ServerApp.terminals_enabled=False", "--LabApp.expose_app_in_browser=True",
        "--LabApp.extension_manager=readonly", "--KernelManager.transport=ipc",
    ]  # fmt: skip
    log = folder / "log.txt"
    with log.open("wb") as said:
        server = subprocess.Popen(
            command, cwd=root, env=env, stdout=said, stderr=said, start_new_session=True
        )
    try:
        url = _address(runtime, server, log)
        yield Lab(url, token, root)
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(30)


def _address(runtime: Path, server: subprocess.Popen[bytes], log: Path) -> str:
    """Address that the server tells once it listens."""
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        if server.poll() is not None:
            break
        for path in runtime.glob("jpserver-*.json"):
            told = path.read_text(encoding="utf-8")
            if told.rstrip().endswith("}"):
                url: str = json.loads(told)["url"]
                return url
        time.sleep(0.1)
    raise AssertionError(f"no JupyterLab came up: {log.read_text(errors='replace')[-2000:]}")


@dataclass
class Page:
    """A notebook in the browser, and everything that must not happen."""

    page: Any
    faults: list[str] = field(default_factory=list)

    def run_all(self) -> list[dict[str, Any]]:
        """Run all cells, as the menu does; the count and the errors of each code cell."""
        self.page.wait_for_function(READY, timeout=STEP_MS)
        self.page.evaluate(RUN_ALL)
        self.page.wait_for_function(READY, timeout=STEP_MS)
        cells: list[dict[str, Any]] = self.page.evaluate(CELLS)
        return cells

    def until(self, words: str, where: str = ".memeval-pane") -> None:
        """Wait until something says so."""
        self.page.wait_for_function(
            "([words, where]) => [...document.querySelectorAll(where)]"
            ".some(node => node.innerText.includes(words))",
            arg=[words, where],
            timeout=STEP_MS,
        )

    def theme(self, name: str) -> None:
        """Change the theme of the whole page."""
        light = "false" if "Dark" in name else "true"
        self.page.evaluate(THEME, name)
        self.page.wait_for_function(
            f"() => document.body.dataset.jpThemeLight === '{light}'", timeout=STEP_MS
        )


@contextmanager
def opened(lab: Lab, browser: Any, name: str, **options: Any) -> Iterator[Page]:
    """Open a notebook of the server's folder; close it and its kernel at the end."""
    context = browser.new_context(**({"viewport": {"width": 1280, "height": 1400}} | options))
    page = context.new_page()
    page.set_default_timeout(STEP_MS)
    made = Page(page)
    page.on("pageerror", lambda error: made.faults.append(f"page error: {error}"))
    page.on("dialog", lambda dialog: (made.faults.append("dialog"), dialog.dismiss()))
    page.on("request", lambda request: _near(request.url, lab, made.faults))
    try:
        page.goto(f"{lab.url}lab/tree/{name}?token={lab.token}&reset", timeout=STEP_MS)
        page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=STEP_MS)
        yield made
    finally:
        context.close()
        for session in lab.call("api/sessions"):
            lab.call(f"api/sessions/{session['id']}", "DELETE")


def _near(url: str, lab: Lab, faults: list[str]) -> None:
    if not url.startswith((lab.url, lab.url.replace("http", "ws", 1), "data:", "blob:")):
        faults.append(f"request to {url}")
