"""Hands and eyes of the tests: a notebook in JupyterLab or Notebook 7, driven by the application's own commands.

Invariant: whatever the page writes to its console as an error, and whatever it asks of another host, is kept in the
`Console` of the page; the fixture `page` fails the test for it.
"""

import json
import re
from pathlib import Path

import nbformat

ARTEFACTS = Path(__file__).resolve().parent / "artefacts"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
# Notebook 7 says this of itself when it opens any notebook: a setting of Lab's that it does not have.
# Lab asks a kernel for its debugger when a notebook opens; one that is closed meanwhile has no answer.
BENIGN = (
    r"^Cannot read properties of undefined \(reading 'schema'\)$",
    r"^Could not restore the debugger state: Canceled future for debug_request",
)


class Console:
    """What a page said and asked for; `allow` makes an expected error none."""

    def __init__(self, page):
        self.messages, self.outside, self.allowed = [], [], list(BENIGN)
        self._page = page
        self._listeners = {"console": self._said, "pageerror": self._raised, "request": self._asked}
        for event, listener in self._listeners.items():
            page.on(event, listener)

    def stop(self):
        """Keep nothing of what comes from now on."""
        for event, listener in self._listeners.items():
            self._page.remove_listener(event, listener)

    def _raised(self, error):
        self.messages.append(("pageerror", str(error)))

    def _said(self, message):
        place = (message.location or {}).get("url", "")
        self.messages.append((message.type, f"{message.text} {place}".strip()))

    def _asked(self, request):
        if not re.match(
            r"(data|blob|file|about):|https?://127\.0\.0\.1[:/]|wss?://127\.0\.0\.1[:/]", request.url
        ):
            self.outside.append(request.url)

    def allow(self, pattern):
        """Take errors that match a regular expression for expected ones."""
        self.allowed.append(pattern)

    def errors(self):
        """Return what is wrong: errors of the page's code and requests that leave this machine."""
        said = [text for kind, text in self.messages if kind in ("error", "pageerror")]
        bad = [text for text in said if not any(re.search(pattern, text) for pattern in self.allowed)]
        return bad + [f"asked for {url}" for url in self.outside]


# Application, panel, document, kernel: each may come late, and a kernel is "idle" before it has answered.
WAIT_FOR_KERNEL = """async () => {
  const end = Date.now() + 60000;
  while (Date.now() < end) {
    const app = window.jupyterapp;
    if (app) {
      await app.started;
      const panel = app.shell.currentWidget;
      if (panel && panel.content && panel.content.widgets && panel.sessionContext) {
        await panel.context.ready;
        await panel.sessionContext.ready;
        const kernel = panel.sessionContext.session && panel.sessionContext.session.kernel;
        if (kernel) { await kernel.info; if (kernel.status === "idle") return true; }
      }
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  return false;
}"""

RUN_CELL = """async ([index, wait]) => {
  const app = window.jupyterapp, notebook = app.shell.currentWidget.content;
  notebook.activeCellIndex = index;
  notebook.mode = "command";
  await notebook.scrollToItem(index);
  const ran = app.commands.execute("notebook:run-cell");
  if (wait) await ran;
  return notebook.activeCellIndex;
}"""

HAS_RUN = r"""(index) => {
  const cell = window.jupyterapp.shell.currentWidget.content.widgets[index];
  return /^\d+$/.test(cell.prompt || String(cell.model.executionCount ?? ""));
}"""

ADD_CELL = """(source) => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  const index = notebook.widgets.length;
  notebook.model.sharedModel.insertCell(index, {cell_type: "code", source, metadata: {trusted: true}});
  return index;
}"""

OUTPUTS = """(index) => window.jupyterapp.shell.currentWidget.content.widgets[index].model.outputs.toJSON()"""

# Where the last notebook stood: in Lab closing it may have left a launcher, Notebook 7 would open another page.
OPEN = """async ([path, url, alone]) => {
  const app = window.jupyterapp;
  await app.started;
  const options = alone ? { ref: "_noref" } : {};
  const opened = await app.commands.execute("docmanager:open", { path, factory: "Notebook", options });
  for (const other of [...app.shell.widgets("main")]) if (other !== opened) other.dispose();
  if (alone) history.replaceState(null, "", url);
}"""

CLOSE_ALL = (
    """() => { for (const widget of [...window.jupyterapp.shell.widgets("main")]) widget.dispose(); }"""
)

SET_THEME = """async (theme) => {
  const app = window.jupyterapp;
  await app.commands.execute("apputils:change-theme", {theme});
}"""


class Notebook:
    """One open notebook; the application's object is the same in Lab and in Notebook 7."""

    def __init__(self, page, server, name, in_place=False):
        self.page, self.server, self.name = page, server, name
        if in_place and is_open(page, server):
            page.evaluate(OPEN, [name, self._url(), server.app == "notebook"])
            if self._is_ready():
                return
        self.open()  # also where the application lost the message that its kernel has started

    def _url(self):
        path = f"lab/tree/{self.name}?reset" if self.server.app == "lab" else f"notebooks/{self.name}"
        return self.server.url(path)

    def open(self):
        """Load the page of the file, also once more; return when its kernel is idle."""
        self.page.goto(self._url(), wait_until="domcontentloaded")
        self._ready()

    def _is_ready(self):
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
        return self.page.evaluate(WAIT_FOR_KERNEL)

    def _ready(self):
        assert self._is_ready(), "the kernel was never idle"

    def theme(self, name):
        """Switch the application to its "light" or "dark" theme."""
        light = "true" if name == "light" else "false"
        self.page.evaluate(SET_THEME, THEMES[name])
        self.page.wait_for_selector(f'body[data-jp-theme-light="{light}"]', state="attached")

    def cell(self, index):
        """Return the locator of a cell."""
        return self.page.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{index}"]')

    def output(self, index):
        """Return the locator of what a cell shows below its code."""
        return self.cell(index).locator(".jp-Cell-outputArea")

    def outputs(self, index):
        """Return the outputs of a cell as the notebook's file has them."""
        return self.page.evaluate(OUTPUTS, index)

    def text(self, index):
        """Return the text below a cell, streams and plain results, as the file has it."""
        parts = []
        for output in self.outputs(index):
            said = output.get("text") or output.get("data", {}).get("text/plain", "")
            parts.append("".join(said) if isinstance(said, list) else said)
        return "".join(parts)

    def start(self, index):
        """Start a cell and return at once."""
        assert self.page.evaluate(RUN_CELL, [index, False]) == index

    def wait(self, index, timeout=60_000):
        """Wait until a started cell has ended."""
        self.page.wait_for_function(HAS_RUN, arg=index, timeout=timeout)

    def run(self, index, *, fails=False):
        """Run a cell to its end; return the locator of its output. An exception in it fails the test."""
        assert self.page.evaluate(RUN_CELL, [index, True]) == index
        self.wait(index)
        bad = [output for output in self.outputs(index) if output["output_type"] == "error"]
        assert bool(bad) == fails, (
            f"cell {index}: {bad[0]['ename']}: {bad[0]['evalue']}" if bad else "no error"
        )
        return self.output(index)

    def add(self, source):
        """Append a cell; return its index."""
        return self.page.evaluate(ADD_CELL, source)

    def execute(self, source, *, fails=False):
        """Append a cell and run it; return its index."""
        index = self.add(source)
        self.run(index, fails=fails)
        return index

    def save(self):
        """Save the file."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.save()")

    def path(self):
        """Return the path of the file."""
        return self.server.folder / self.name


def is_open(page, server):
    """Whether the application of a server is what a page shows."""
    return page.url.startswith(f"{server.address}/")


def write_notebook(path, sources, kernel="python3"):
    """Write a notebook of code cells."""
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources or [""]])
    nb.metadata["kernelspec"] = {"name": kernel, "display_name": kernel, "language": "python"}
    for number, cell in enumerate(nb.cells):
        cell["id"] = f"cell-{number}"
    path.write_text(json.dumps(nb))


def shoot(target, test, name):
    """Save a picture of a page or a locator among the artefacts; return its path."""
    ARTEFACTS.mkdir(exist_ok=True)
    path = ARTEFACTS / (re.sub(r"[^\w.=-]+", "-", f"{test}-{name}").strip("-") + ".png")
    target.screenshot(path=path)
    return path
