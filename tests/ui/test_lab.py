"""`vistorch lab` as a newcomer meets it, and what is left of live views once their kernel is gone."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from playwright.sync_api import expect

from tests.ui import driver, servers
from tests.ui.test_graph_live import NET
from vistorch.tutorials import copies


@pytest.fixture
def started(tmp_path):
    """`vistorch lab` in an empty folder; the running server."""
    home, port = tmp_path / "home", servers.free_port()
    servers.write_settings(home / "settings", servers.SETTINGS)
    command = [sys.executable, "-m", "vistorch", "lab", "mine", "--no-browser", "--allow-root"]
    command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--expose-app-in-browser"]
    command += [f"--IdentityProvider.token={servers.TOKEN}"]
    with open(tmp_path / "log", "w") as log:
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            env=servers.environment(home),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        running = servers.Server("lab", tmp_path / "mine", f"http://127.0.0.1:{port}", process, log)
        try:
            for _ in range(240):
                assert process.poll() is None, (tmp_path / "log").read_text()
                try:
                    running.ask("status")
                    break
                except urllib.error.URLError:
                    time.sleep(0.25)
            yield running
            running.end_kernels()
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(20)


def test_the_first_tutorial_is_open_and_runs_to_its_end(started, page, shoot):
    # Where the root of the server leads is where `vistorch lab` opens the browser.
    with urllib.request.urlopen(started.url("")) as answer:
        first = answer.url.partition("/lab/tree/")[2].partition("?")[0]
    assert first == copies.originals()[0].name
    nb = driver.Notebook(page, started, first)
    shoot("opened")
    kinds = page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model.type)"
    )
    stored = [nb.text(index) if kind == "code" else "" for index, kind in enumerate(kinds)]
    assert kinds.count("code") >= 5
    for index, kind in enumerate(kinds):
        if kind == "code":
            nb.run(index)
    assert [nb.text(index) if kind == "code" else "" for index, kind in enumerate(kinds)] == stored
    shoot("ran")


@pytest.mark.parametrize("jupyter", ["lab"], indirect=True)
def test_live_views_without_their_kernel(notebook, page, shoot):
    nb = notebook(NET, "%vt step loss", "torch.eye(3)")
    for index in range(3):
        nb.run(index)
    expect(nb.output(1).locator(".vt-pos")).to_have_text("step 0 of 6")
    nb.save()
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    page.goto("about:blank")
    nb.server.end_kernels()
    nb.open()
    expect(nb.output(2).locator(".vt-card")).to_be_visible()  # a page needs no kernel
    expect(nb.output(1).locator(".vt-lost")).to_contain_text("Run the cell again to go on.", timeout=20_000)
    nb.output(1).get_by_label("one step on").click()
    expect(nb.output(1).locator(".vt-pos")).to_have_text("step 1 of 6")
    shoot("left")
