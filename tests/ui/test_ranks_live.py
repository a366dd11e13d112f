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


def test_what_is_clicked_is_done_by_all_ranks_at_once(notebook, page, shoot):
    made = notebook(START, "%%vt watch --ranks --title main\nmain(100_000, slow=0.004)", "1 + 1")
    made.run(0)
    made.start(1)
    panel = made.output(1).locator(".vt-rk").first
    state = panel.locator(".vt-rk-state")
    note = panel.locator(".vt-rk-bar0 .vt-note")
    done = panel.locator(".vt-rk-head dl", has_text="step").first.locator("b")
    expect(state).to_have_text("Running", timeout=20_000)
    panel.locator("[data-do='pause']").click()
    expect(state).to_have_text("Paused", timeout=20_000)
    expect(note).to_contain_text("Paused after step")
    before = int(done.inner_text().replace(",", ""))
    shoot("ranks-paused", made.output(1))
    panel.locator("[data-do='step']").click()
    expect(done).to_have_text(f"{before + 1:,}", timeout=20_000)
    expect(note).to_contain_text(f"Paused after step {before}")
    rate = panel.locator(".vt-rk-bar0 input")
    rate.fill("fast")
    rate.press("Enter")
    expect(note).to_contain_text("A learning rate is a number from 0 on")
    rate.fill("0.005")
    rate.press("Enter")
    expect(note).to_contain_text("Learning rate 0.005 after step", timeout=20_000)
    panel.locator("[data-do='resume']").click()
    expect(state).to_have_text("Running", timeout=20_000)
    panel.locator("[data-do='stop']").click()
    made.wait(1)
    expect(panel.locator(".vt-rk-state")).to_have_text("Stopped", timeout=20_000)
    expect(panel.locator(".vt-rk-bar0")).to_be_hidden()
    made.run(2)
    assert made.outputs(2)[0]["data"]["text/plain"] == "2"


COMPARE = """%%vt compare --ranks
import vistorch
net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
if not dist.is_initialized():
    dist.init_process_group()
vistorch.manual_seed(dist.get_rank())
net(vistorch.ones(1, 4)).sum().backward()
for one in net.parameters():
    dist.all_reduce(one.grad)
net[1].weight.data.add_(vistorch.randn(1, 4))
net(vistorch.ones(1, 4))"""


def test_where_ranks_part_is_shown(notebook, page, shoot):
    made = notebook(START, "%%vt ranks\nimport vistorch\nvistorch.manual_seed(0)", COMPARE)
    made.run(0)
    made.run(1)
    made.run(2)
    panel = made.output(2).locator(".vt-rk").first
    expect(panel.locator(".vt-rk-alarm")).to_contain_text(
        "Ranks part at step 0: 1.weight differs first on rank 1"
    )
    expect(panel.locator(".vt-rk-hit")).to_contain_text("net[1].weight.data.add_")
    expect(panel.locator(".vt-rk-firstly .vt-rk-odd")).to_have_count(1)
    shoot("ranks-part", made.output(2))
