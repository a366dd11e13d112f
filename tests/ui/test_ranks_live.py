"""Ranks in a real notebook: the panel while they train, after a restart, and when the notebook is opened again."""

import pytest
from playwright.sync_api import expect

from tests.distributed.test_faults import running
from tests.magics.test_ranks import TRAIN

pytestmark = pytest.mark.mpi

START = "%load_ext vistorch\n%vt ranks 2" + TRAIN + "\nfrom vistorch.widgets.ranks.run import RANKS"
WATCH = "%%vt watch --ranks --title main\nmain(60, slow=0.02)"
PIDS = "print(*[one.pid for one in RANKS.pool.ranks])"


def test_two_ranks_are_watched_and_what_stays_is_the_last_state(notebook, page, shoot):
    made = notebook(START, WATCH, PIDS)
    made.run(0)
    made.run(2)
    pids = [int(pid) for pid in made.outputs(2)[0]["text"].split()]
    assert all(map(running, pids))
    made.start(1)
    panel = made.output(1).locator(".vt-rk").first
    expect(panel.locator(".vt-rk-state")).to_have_text("Running", timeout=20_000)
    expect(panel.locator(".vt-rk-time .vt-rk-wait").first).to_be_attached(timeout=20_000)
    made.wait(1)
    expect(panel.locator(".vt-rk-state")).to_have_text("Finished", timeout=20_000)
    expect(panel.locator(".vt-rk-say")).to_contain_text("Rank 1 holds the others up.")
    expect(panel.locator(".vt-rk-sel .vt-rk-rank")).to_have_text("1")
    panel.locator("[data-rank='0']").click()
    expect(panel.locator(".vt-rk-sel .vt-rk-rank")).to_have_text("0")
    page.keyboard.press("1")
    expect(panel.locator(".vt-rk-sel .vt-rk-rank")).to_have_text("1")
    expect(made.output(1).locator(".vt-rk:visible")).to_have_count(1)
    shoot("ranks", made.output(1))
    made.save()
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")

    page.console.allow("model not found|widget model|Could not|Failed to load|WebSocket|404|Kernel")
    page.evaluate("() => void window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    expect(made.output(1).locator(".vt-lost").first).to_contain_text(
        "The kernel was restarted", timeout=20_000
    )
    for _ in range(100):
        if not any(map(running, pids)):
            break
        page.wait_for_timeout(50)
    assert not any(map(running, pids))

    made.server.end_kernels()
    page.goto("about:blank")
    made.open()
    kept = made.output(1).locator(".vt-rk:visible")
    expect(kept).to_have_count(1, timeout=20_000)
    expect(kept.locator(".vt-rk-state")).to_have_text("Finished")
    expect(kept.locator(".vt-rk-say")).to_contain_text("Rank 1 holds the others up.")
    kept.locator("[data-rank='0']").click()
    expect(kept.locator(".vt-rk-sel .vt-rk-rank")).to_have_text("0")
