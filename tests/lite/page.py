"""`python -m tests.lite.page SITE [NOTEBOOK ...]` opens a built JupyterLite in Chromium and runs its tutorials.

The site is one of `python -m docs.making.lite --wheels FOLDER --pyodide ARCHIVE`. For each tutorial it prints seconds
and errors of its cells; the exit code is 1 where there was one, or where a tutorial did not come to its end.
Invariant: no request leaves this machine.
"""

from __future__ import annotations

import functools
import http.server
import sys
import threading
import time
from pathlib import Path

from playwright.sync_api import Page, Route, sync_playwright

from tests.ui.browsers import find

MOST = 300  # seconds for a tutorial
CELLS = """() => {
  const cells = window.jupyterapp.shell.currentWidget.content.model.cells;
  const all = Array.from({ length: cells.length }, (_, i) => cells.get(i).toJSON());
  return all.filter((one) => one.cell_type === "code");
}"""


def served(site: Path) -> http.server.ThreadingHTTPServer:
    """Serve a folder on a port of this machine, in a thread."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def with_the_app(route: Route) -> None:
    """Let a script of the page reach JupyterLab: that is a setting of the site's."""
    settings = route.fetch().json()
    settings["jupyter-config-data"]["exposeAppInBrowser"] = True
    route.fulfill(json=settings)


def run(page: Page, address: str, notebook: str) -> tuple[float, list[str]]:
    """Run all cells of a tutorial; return how long that took and what failed."""
    page.goto(f"{address}/lab/index.html?path={notebook}", timeout=120_000)
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=120_000)
    page.wait_for_function(
        "window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel", timeout=60_000
    )
    began = time.monotonic()
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    cells = page.evaluate(CELLS)
    while time.monotonic() - began < MOST:
        time.sleep(1)
        cells = page.evaluate(CELLS)
        # The first cell installs vistorch; its count is none of the stored ones.
        if cells[0]["execution_count"] and cells[-1]["execution_count"] == len(cells):
            break
    failed = [
        f"{out['ename']}: {out['evalue']}"
        for cell in cells
        for out in cell["outputs"]
        if out["output_type"] == "error"
    ]
    if cells[-1]["execution_count"] != len(cells):
        failed.append(f"it did not come to its end in {MOST} s")
    return time.monotonic() - began, failed


def main(given: list[str]) -> int:
    """Run the tutorials that are named, or all; return an exit code."""
    site, names = Path(given[0]), given[1:]
    names = names or sorted(path.name for path in (site / "files").glob("[0-9]*.ipynb"))
    server = served(site)
    address = f"http://127.0.0.1:{server.server_port}"
    bad = 0
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find(), args=["--no-sandbox"])
        for name in names:
            page = browser.new_page(viewport={"width": 1300, "height": 1400})
            asked: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.route("**/jupyter-lite.json", with_the_app)
            seconds, failed = run(page, address, name)
            failed += [url for url in asked if not url.startswith((address, "data:", "blob:"))]
            print(f"{name}: {seconds:.0f} s", *failed, sep="\n    ", flush=True)
            bad += bool(failed)
            page.close()
        browser.close()
    server.shutdown()
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
