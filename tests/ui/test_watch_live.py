"""A training that is watched in a real notebook: what a person sees and does while the cell runs, and what stays."""

import json
import re
import time

import pytest
from playwright.sync_api import expect

from tests.ui import driver, kernels, servers

START = """%load_ext vistorch
import vistorch as torch
from vistorch import nn, vt
from vistorch.utils.data import DataLoader
from vistorch.vision import transforms
from vistorch.vision.datasets import Shapes
from vistorch.vision.models import LeNet
torch.manual_seed(0)
train = Shapes(length=600, transform=transforms.ToTensor())
test = Shapes(length=100, train=False, transform=transforms.ToTensor())
net = LeNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
criterion = nn.CrossEntropyLoss()"""
TRAIN = """%%vt watch --epochs 4000 --name run
for epoch in range(4000):
    for images, labels in DataLoader(train, batch_size=16, shuffle=True):
        optimizer.zero_grad()
        loss = criterion(net(images), labels)
        loss.backward()
        optimizer.step()"""
SHORT = TRAIN.replace("4000", "2")


def number_of(panel):
    return int(re.sub(r"\D", "", panel.locator(".vt-step").inner_text().partition(" of ")[0]))


def goes_on(panel, past):
    """Wait until the panel counts past a step: a busy machine gets steps seldom."""
    for _ in range(200):
        if number_of(panel) > past:
            return
        panel.page.wait_for_timeout(50)
    raise AssertionError(f"the panel stands at step {number_of(panel)}")


def press(panel, name):
    panel.get_by_role("button", name=name, exact=True).click()


def shares(panel):
    return [bar.get_attribute("aria-valuenow") for bar in panel.locator(".vt-class .vt-bar").all()]


@pytest.fixture
def nb(notebook):
    """A notebook with a network, and its training in the cell below."""

    def new(source=TRAIN, kernel="python3"):
        made = notebook(START, source, kernel=kernel)
        made.run(0)
        return made

    return new


def panel_of(nb, index=1):
    nb.start(index)
    panel = nb.output(index).locator(".vt-watch").first
    expect(panel).to_be_visible(timeout=20_000)
    return panel


def picture_of_a_cell(panel):
    """Click cells of the confusion matrix until one shows pictures; whether one does."""
    cells = panel.evaluate(
        "(panel) => [...panel.querySelectorAll('.vt-confusion [role=gridcell][data-label]')]"
        ".filter((c) => c.dataset.label !== c.dataset.read && /[1-9]/.test(c.textContent))"
        ".map((c) => [c.dataset.label, c.dataset.read])"
    )
    for label, read in cells:
        panel.locator(f'.vt-confusion [role=gridcell][data-label="{label}"][data-read="{read}"]').click()
        panel.page.wait_for_timeout(50)
        if panel.locator(".vt-samples .vt-sample").count():
            return True
    return False


def play(nb, shoot):
    """What a person does with the panel; returns it, after the training was stopped."""
    panel = panel_of(nb)
    expect(panel.locator(".vt-status")).to_have_text(re.compile("running", re.I), timeout=20_000)
    expect(panel.locator(".vt-class")).to_have_count(10, timeout=20_000)
    before = shares(panel)
    nb.page.wait_for_function(
        "(before) => [...document.querySelectorAll('.vt-class .vt-bar')]"
        ".map((one) => one.getAttribute('aria-valuenow')).join() !== before",
        arg=",".join(str(one) for one in before),
        timeout=20_000,
    )

    press(panel, "pause")
    expect(panel.locator(".vt-status")).to_have_text(re.compile("paused", re.I), timeout=5_000)
    stood = number_of(panel)
    expect(panel.locator(".vt-said")).to_contain_text("ms after the click")
    late = re.search(r"(\d+) ms after the click", panel.locator(".vt-said").inner_text())
    assert late is not None
    time.sleep(0.4)
    assert number_of(panel) == stood
    shoot("paused", panel)

    field = panel.get_by_label("learning rate", exact=True)
    field.fill("-1")
    field.press("Enter")
    expect(panel.locator(".vt-refused")).to_have_text(re.compile("positive"))
    field.fill("0.005")
    field.press("Enter")
    panel.get_by_role("tab", name=re.compile("^Log")).click()
    expect(panel.locator(".vt-log .vt-entry").filter(has_text="learning rate 0.02 → 5e-3")).to_have_count(1)

    press(panel, "one step")
    expect(panel.locator(".vt-step")).to_contain_text(re.compile(rf"^{stood + 1:,}\b"))
    expect(panel.locator(".vt-status")).to_have_text(re.compile("paused", re.I))
    assert number_of(panel) == stood + 1

    press(panel, "resume")
    expect(panel.locator(".vt-status")).to_have_text(re.compile("running", re.I))
    goes_on(panel, stood + 1)

    panel.get_by_role("tab", name="Confusion").click()
    press(panel, "pause")
    expect(panel.locator(".vt-status")).to_have_text(re.compile("paused", re.I))
    for _ in range(10):  # pictures are kept as the share of time allows
        if picture_of_a_cell(panel):
            break
        press(panel, "resume")
        nb.page.wait_for_timeout(1500)
        press(panel, "pause")
        expect(panel.locator(".vt-status")).to_have_text(re.compile("paused", re.I))
    expect(panel.locator(".vt-samples .vt-sample").first).to_be_visible()
    shoot("samples", panel)

    press(panel, "stop and keep")
    nb.wait(1)
    expect(panel.locator(".vt-status")).to_have_text(re.compile("stopped", re.I))
    shoot("stopped", panel)
    return panel, int(late[1])


def steered(made, shoot):
    _, late = play(made, shoot)
    assert late < 500  # a step of the loop, 50 ms, and the other programs of this machine
    assert [one for one in made.outputs(1) if one["output_type"] in ("error", "stream")] == []
    seen = made.text(made.execute("print(run, run.log.entries[-1].what, optimizer.param_groups[0]['lr'])"))
    assert re.match(r"<Run: stopped, step \d+> stopped 0.005", seen)


# 7.3 is left to tests/widgets/test_pump.py: it hangs, now and then, whatever one does in it.
@pytest.mark.parametrize("kernel", ["ipykernel-6.31", kernels.NEWEST])
def test_a_person_watches_and_steers_a_training(nb, shoot, kernel):
    steered(nb(kernel=kernel), shoot)


@pytest.fixture(scope="module", params=["lab", "notebook"])
def no_subshells(request, tmp_path_factory):
    """An application that sends no message to a subshell."""
    off = {"apputils-extension/kernels-settings": {"commsOverSubshells": "disabled"}}
    folder = tmp_path_factory.mktemp(f"{request.param}-off")
    with servers.server(request.param, folder, settings=off, kernelspecs=kernels.specs()) as running:
        yield running


@pytest.mark.parametrize("kernel", ["ipykernel-6.31", kernels.NEWEST])
def test_subshells_are_not_needed(no_subshells, page, shoot, kernel):
    if kernel in kernels.PINNED:
        kernels.fetch(kernel)
    driver.write_notebook(no_subshells.folder / f"{kernel}.ipynb", [START, TRAIN], kernel)
    made = driver.Notebook(page, no_subshells, f"{kernel}.ipynb")
    made.run(0)
    steered(made, shoot)
    page.goto("about:blank")
    no_subshells.end_kernels()


def test_the_last_state_stays_when_the_notebook_is_opened_again(nb, page, shoot):
    made = nb(SHORT)
    panel = panel_of(made)
    made.wait(1)
    expect(panel.locator(".vt-status")).to_have_text(re.compile("finished", re.I))
    # one panel: what stays gives way to the live one
    expect(made.output(1).locator(".vt-watch:visible")).to_have_count(1)
    outputs = made.outputs(1)
    assert [one["output_type"] for one in outputs] == ["display_data", "display_data"]
    assert set(outputs[1]["data"]) == {"text/plain", "image/svg+xml", "text/html"}
    made.save()
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    made.server.end_kernels()
    page.console.allow("model not found|widget model|Could not|Failed to load|WebSocket|404|Kernel")
    page.goto("about:blank")
    made.open()
    kept = made.output(1).locator(".vt-watch:visible")
    expect(kept).to_have_count(1, timeout=20_000)
    expect(kept.locator(".vt-status")).to_have_text(re.compile("finished", re.I))
    expect(kept.locator(".vt-class")).to_have_count(10)
    expect(kept.get_by_role("button", name="pause")).to_have_count(0)
    expect(made.output(1).get_by_text("Error displaying widget")).to_be_hidden(timeout=20_000)
    shoot("reopened", made.output(1))


def test_a_page_that_is_loaded_again_takes_the_running_training_up(nb, page):
    made = nb()
    panel = panel_of(made)
    expect(panel.locator(".vt-class")).to_have_count(10, timeout=20_000)
    made.save()
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    stood = number_of(panel)
    page.reload(wait_until="domcontentloaded")
    expect(page.locator(".vt-watch")).to_be_visible(timeout=30_000)
    expect(panel.locator(".vt-status")).to_have_text(re.compile("running", re.I))
    page.wait_for_function(
        "(stood) => Number(document.querySelector('.vt-watch .vt-step').textContent.split(' of ')[0]"
        ".replace(/\\D/g, '')) > stood",
        arg=stood,
    )
    press(panel, "stop and keep")
    expect(panel.locator(".vt-status")).to_have_text(re.compile("stopped", re.I))


def test_a_notebook_that_is_not_trusted_shows_drawing_and_table(nb, page, shoot):
    made = nb(SHORT)
    made.run(1)
    made.save()
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    content = json.loads(made.path().read_text())
    for cell in content["cells"]:
        cell["metadata"].pop("trusted", None)
        cell["source"] = [*cell["source"], "\n# another's"]
    (made.server.folder / "foreign.ipynb").write_text(json.dumps(content))
    made.server.end_kernels()
    page.goto("about:blank")
    foreign = driver.Notebook(page, made.server, "foreign.ipynb")
    output = foreign.output(1)
    expect(output.locator("img.vistorch-off")).to_be_visible()
    expect(output.locator("pre").filter(has_text="Finished after step 76 of 76, epoch 2")).to_be_visible()
    expect(output.locator(".vt-watch")).to_have_count(0)
    shoot("untrusted", output)


def test_a_converted_notebook_shows_the_last_state(nb, page, standalone):
    import nbformat
    from nbconvert import HTMLExporter

    made = nb(SHORT)
    made.run(1)
    made.save()
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    read = nbformat.read(made.path(), as_version=4)
    whole, _ = HTMLExporter(template_name="basic").from_notebook_node(read)
    page.console.allow("requirejs|require is not defined|Failed to load|MathJax")
    shown = standalone(whole)
    expect(shown.locator(".vt-watch:visible")).to_have_count(1)
    expect(shown.locator(".vt-watch .vt-status")).to_have_text(re.compile("finished", re.I))


ENDS = {
    "error": ("\n        if run.step == 20: raise ValueError('no more')", "error"),
    "interrupt": ("", "interrupted"),
}


@pytest.mark.parametrize("end", ENDS)
def test_an_end_that_was_not_wished_leaves_the_panel_and_a_healthy_kernel(nb, page, shoot, end):
    more, word = ENDS[end]
    made = nb(TRAIN + more)
    panel = panel_of(made)
    expect(panel.locator(".vt-class")).to_have_count(10, timeout=20_000)
    if end == "interrupt":
        page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.interrupt()")
    made.wait(1)
    expect(panel.locator(".vt-status")).to_have_text(re.compile(word, re.I))
    assert [one["output_type"] for one in made.outputs(1)] == ["display_data", "display_data", "error"]
    shoot(end, panel)
    assert made.text(made.execute("print(run.status, run.step > 0)")) == f"{word} True\n"
    again = made.execute(SHORT)
    assert made.text(made.execute("print(run.status)")) == "finished\n" and again
    # the panel of the cell above still answers
    steps = made.text(made.execute("print(len(net.conv1.weight))"))
    assert steps == "6\n"


def test_the_stepper_opens_in_the_next_backward_pass_and_the_loop_waits(nb, page, shoot):
    made = nb()
    panel = panel_of(made)
    expect(panel.locator(".vt-class")).to_have_count(10, timeout=20_000)
    press(panel, "open the stepper")
    steps = made.output(1).locator(".vt-stepper")
    expect(steps).to_be_visible(timeout=20_000)
    expect(panel.locator(".vt-status")).to_have_text(re.compile("paused", re.I))
    expect(panel.locator(".vt-said")).to_contain_text("The stepper is open below")
    stood = number_of(panel)
    made.output(1).get_by_role("button", name="one step on").click()
    made.output(1).get_by_role("button", name="one step on").click()
    expect(made.output(1).locator(".vt-pos")).to_contain_text("step 2 of")
    shoot("stepper", made.output(1))
    assert number_of(panel) == stood
    made.output(1).get_by_role("button", name="run the rest").click()
    expect(panel.locator(".vt-status")).to_have_text(re.compile("running", re.I))
    goes_on(panel, stood + 1)
    press(panel, "stop and keep")
    made.wait(1)
    seen = made.text(made.execute("print([entry.what for entry in run.log.entries])"))
    assert "'stepper', 'stepper left', 'stopped'" in seen


def test_two_watches_at_once_and_a_context_have_a_panel_each(nb):
    source = """other = LeNet()
its = torch.optim.SGD(other.parameters(), lr=0.01)
with vt.watch(net, optimizer, title="first") as first, vt.watch(other, its, title="second") as second:
    for images, labels in DataLoader(train, batch_size=50):
        for one, by in ((net, optimizer), (other, its)):
            by.zero_grad()
            criterion(one(images), labels).backward()
            by.step()
print(first.step, second.step)"""
    made = nb(source)
    output = made.run(1)
    expect(output.locator(".vt-watch:visible")).to_have_count(2)
    assert made.text(1).endswith("12 12\n")
    expect(output.locator(".vt-watch:visible .vt-status")).to_have_text([re.compile("finished", re.I)] * 2)
    flow = made.output(made.execute("%vt flow net"))
    expect(flow.locator(".vt-rp-flow .vt-fl-bar")).to_have_count(10)


KERNEL = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"


@pytest.mark.parametrize("jupyter", ["lab"], indirect=True)
@pytest.mark.parametrize("stood", ["running", "paused"])
@pytest.mark.parametrize("end", ["restarted", "killed"])
def test_a_kernel_that_ends_while_it_trains_leaves_no_panel_that_says_it_runs(nb, page, shoot, end, stood):
    kill = "import os, threading; threading.Timer(6, os._exit, [1]).start()\n"
    made = nb(TRAIN.replace("for epoch", f"{kill}for epoch", 1) if end == "killed" else TRAIN)
    page.console.allow("kernel|Kernel|Cannot send|WebSocket|Canceled|disposed")
    panel = panel_of(made)
    expect(panel.locator(".vt-status")).to_have_text("running", timeout=20_000)
    if stood == "paused":
        press(panel, "pause")
        expect(panel.locator(".vt-status")).to_have_text("paused", timeout=5_000)
    page.evaluate(
        f"() => {{ window.went = []; {KERNEL}.statusChanged.connect((_, now) => went.push(now)); }}"
    )
    if end == "restarted":
        page.evaluate(f"() => void {KERNEL}.restart()")
    else:  # it takes the application a moment to notice
        page.wait_for_function("() => window.went.some(now => now.includes('restarting'))", timeout=30_000)
    expect(panel.locator(".vt-status")).to_have_text("cut off", timeout=1_500)
    step = number_of(panel)
    expect(panel.locator(".vt-said")).to_have_text(
        f"The training ended with its kernel, after step {step:,}."
    )
    expect(made.output(1).locator(".vt-lost")).to_contain_text("The kernel was restarted")
    for name in ("pause", "resume", "one step", "stop and keep", "snapshot", "rewind"):
        for button in panel.get_by_role("button", name=name, exact=True).all():
            assert button.is_disabled() or button.get_attribute("aria-disabled") == "true", name
    shoot(f"{end}-{stood}", panel)
