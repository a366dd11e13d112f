"""An alarm with its line, the tab of findings, the page of a diagnosis, in a real notebook: each button is pressed."""

import re

import pytest
from playwright.sync_api import expect

from tests.ui.test_watch_alarm import readable
from tests.ui.test_watch_live import START

NAN = """%%vt watch --epochs 3 --snapshot-every 10 --name run
for epoch in range(3):
    for images, labels in DataLoader(train, batch_size=16, shuffle=True):
        optimizer.zero_grad()
        scores = net(images)
        p = (scores * (1e4 if run.step + 1 == 40 else 1.0)).softmax(-1)
        spread = (p * p.log()).sum(-1).mean()
        loss = criterion(scores, labels) + 0.1 * spread
        loss.backward()
        optimizer.step()"""

FORGOTTEN = """%%vt watch --epochs 1 --name run
import time
for images, labels in DataLoader(train, batch_size=16):
    criterion(net(images), labels).backward()
    optimizer.step()
    time.sleep(0.02)"""

DIAGNOSED = """%%vt diagnose
for images, labels in DataLoader(train, batch_size=16):
    loss = criterion(net(images), labels)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()"""

SHAPES = """%%vt diagnose
narrow = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 64), nn.ReLU(), nn.Linear(84, 10))
narrow(torch.zeros(16, 3, 32, 32))"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_alarm_has_its_line_and_that_step_is_traced(notebook, shoot, theme):
    made = notebook(START, NAN, theme=theme)
    made.run(0)
    made.start(1)
    panel = made.output(1).locator(".vt-watch").first
    said = panel.get_by_role("alert")
    expect(said).to_contain_text("Loss is NaN since step 40", timeout=60_000)
    expect(said).to_contain_text(
        re.compile(r"Made at log in line 7 of cell \[\d+\]: [\d,]+ of 160 values were 0\.")
    )
    tab = panel.get_by_role("tab", name=re.compile("^Findings"))
    expect(tab).to_have_attribute("aria-selected", "true")
    expect(tab.locator(".vt-w-count")).to_have_text("1")
    first = panel.locator(".vt-dg-one").first
    expect(first.locator('[data-role="guilty"]').first).to_contain_text("p.log()")
    expect(first).to_contain_text("inputs that are 0")
    shoot("alarm-line", panel)
    readable(panel)
    first.get_by_role("button", name=re.compile("go to the line")).click()
    good = int(re.search(r"Last good snapshot: step (\d+);", said.inner_text())[1])
    panel.press("t")
    trace = made.output(1).locator(".vt-rp-trace")
    expect(trace).to_be_visible(timeout=30_000)
    expect(trace).to_contain_text("log")
    expect(said).to_contain_text("Loss is NaN since step 40")  # it came again, and holds the loop again
    panel.get_by_role("tab", name=re.compile("^Log")).click()
    expect(panel.locator(".vt-log")).to_contain_text(f"snapshot {good}")
    expect(panel.locator(".vt-log")).to_contain_text("traced")
    shoot("traced", made.output(1))
    panel.get_by_role("button", name=re.compile("Step into it")).click()
    steps = made.output(1).locator(".vt-stepper")
    expect(steps).to_be_visible(timeout=20_000)
    made.output(1).get_by_role("button", name="run the rest").click()
    expect(said).to_contain_text("Loss is NaN since step 40")
    panel.get_by_role("button", name=re.compile("Stop, keep")).click()
    made.wait(1)
    expect(panel.locator(".vt-status")).to_have_text("stopped")


def test_a_rule_finds_it_and_a_person_says_that_it_is_meant(notebook, shoot):
    made = notebook(START, FORGOTTEN)
    made.run(0)
    made.start(1)
    panel = made.output(1).locator(".vt-watch").first
    tab = panel.get_by_role("tab", name=re.compile("^Findings"))
    expect(tab.locator(".vt-w-count")).to_have_text("1", timeout=30_000)
    expect(tab).to_have_attribute("aria-selected", "false")  # a warning opens nothing
    tab.click()
    one = panel.locator(".vt-dg-one")
    expect(one).to_contain_text("Gradients are never cleared")
    expect(one.locator(".vt-dg-where")).to_contain_text("line 5")
    shoot("finding", panel)
    one.get_by_role("button", name="Say nothing more of it").click()
    expect(panel.locator(".vt-dg-one")).to_have_count(0)
    made.wait(1)
    tab.click()
    expect(panel.locator(".vt-w-findings")).to_contain_text("Nothing found")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_of_a_diagnosis(notebook, shoot, theme):
    made = notebook(START, DIAGNOSED, theme=theme)
    made.run(0)
    made.run(1)
    page = made.output(1).locator(".vt-rp-diagnose")
    expect(page).to_contain_text("Every gradient is cleared before optimizer.step() can use it.")
    one = page.locator(".vt-dg-one").first
    expect(one.locator('[data-role="guilty"]').first).to_contain_text("optimizer.zero_grad()")
    expect(one.locator('[data-role="related"]')).to_have_count(2)
    shoot("diagnosis", page)
    readable(page)
    head = one.locator(".vt-dg-head")
    page.press("1")
    expect(head).to_have_attribute("aria-expanded", "false")
    page.press("o")
    expect(head).to_have_attribute("aria-expanded", "true")
    head.click()
    expect(head).to_have_attribute("aria-expanded", "false")
    head.click()
    one.get_by_role("button", name="Copy this line").click()
    expect(one.get_by_role("button", name="Copy this line")).to_have_text("Copied")
    one.get_by_role("button", name=re.compile("go to the line")).click()
    line = made.page.locator(".cm-line", has_text="optimizer.zero_grad()").first
    expect(line).to_be_in_viewport()
    assert "vt-dg-flash" in line.evaluate("(element) => element.style.animation")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_shapes_that_do_not_fit_are_boxes(notebook, shoot, theme):
    made = notebook(START, SHAPES, theme=theme)
    made.run(0)
    made.run(1, fails=True)
    page = made.output(1).locator(".vt-rp-diagnose")
    expect(page.locator(".vt-sh-picture svg")).to_be_visible()
    expect(page.locator('.vt-dg-tree [data-role="guilty"]')).to_contain_text("Linear")
    shoot("shapes", page)
    assert made.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("jupyter", ["lab"], indirect=True)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_diagnosis_stays_when_it_is_loaded_again_and_when_its_kernel_is_restarted(
    notebook, page, shoot, theme
):
    made = notebook(START, DIAGNOSED, theme=theme)
    made.run(0)
    made.run(1)

    def whole():
        shown = made.output(1).locator(".vt-rp-diagnose")
        expect(shown).to_contain_text(
            "Every gradient is cleared before optimizer.step() can use it.", timeout=20_000
        )
        one = shown.locator(".vt-dg-one").first
        expect(one.locator('[data-role="guilty"]').first).to_contain_text("optimizer.zero_grad()")
        head = one.locator(".vt-dg-head")
        state = head.get_attribute("aria-expanded")
        head.click()
        expect(head).to_have_attribute("aria-expanded", "false" if state == "true" else "true")
        head.click()
        expect(head).to_have_attribute("aria-expanded", state)
        readable(shown)
        return shown

    whole()
    made.save()
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    made.open()
    shoot("loaded again", whole())
    page.console.allow("kernel|Kernel|Cannot send|WebSocket|Canceled|disposed|model not found|404|Could not")
    page.evaluate("() => void window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"
    )
    shoot("restarted", whole())
    made.server.end_kernels()
    page.goto("about:blank")
    made.open()
    whole()
