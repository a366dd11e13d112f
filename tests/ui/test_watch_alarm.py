"""An alarm in a real notebook: the loop is held by itself, the panel says why, and each way on does what it says."""

import re

import pytest
from playwright.sync_api import expect

from tests.ui.test_watch_live import START, number_of, press

TRAIN = """%%vt watch --epochs 3 --snapshot-every 10 --name run
bad = {70}
for epoch in range(3):
    for images, labels in DataLoader(train, batch_size=16, shuffle=True):
        optimizer.zero_grad()
        loss = criterion(net(images), labels)
        if run.pace.made + 1 in bad:
            loss = loss * float("nan")
        loss.backward()
        optimizer.step()"""


CONTRAST = """(element) => {
  const parse = (text) => {
    const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    context.fillStyle = text;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b]
    .map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  let ground = element;
  const clear = () => parse(getComputedStyle(ground).backgroundColor)[3] < 255;
  while (clear() && ground.parentElement) ground = ground.parentElement;
  const [a, b] = [getComputedStyle(element).color, getComputedStyle(ground).backgroundColor].map(parse).map(light);
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}"""


def readable(panel):
    """Every button that can act is read at 4.5:1: as it is, under the mouse, with the focus."""
    for button in panel.locator('button:visible:not([aria-disabled="true"], :disabled)').all():
        name = button.inner_text()
        assert button.evaluate(CONTRAST) >= 4.5, name
        button.hover()
        assert button.evaluate(CONTRAST) >= 4.5, f"{name}, under the mouse"
        button.focus()
        assert button.evaluate(CONTRAST) >= 4.5, f"{name}, with the focus"


@pytest.fixture
def alarmed(notebook):
    """`alarmed(theme)`: a training that stands at its alarm: (the notebook, its panel)."""

    def new(theme="light"):
        made = notebook(START, TRAIN, theme=theme)
        made.run(0)
        made.start(1)
        panel = made.output(1).locator(".vt-watch").first
        expect(panel.locator(".vt-w-alarm")).to_be_visible(timeout=30_000)
        return made, panel

    return new


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_nan_holds_the_loop_and_a_rewind_goes_on(alarmed, shoot, theme):
    made, panel = alarmed(theme)
    said = panel.get_by_role("alert")
    expect(said).to_contain_text("Loss is NaN since step 70, epoch 2.")
    expect(said).to_contain_text(
        re.compile(r"Paused by itself after step 70\. Last good snapshot: step \d+; a rewind")
    )
    expect(panel.locator(".vt-status")).to_have_text("paused")
    expect(panel.locator(".vt-w-loss .vt-w-big")).to_have_text("NaN")
    assert number_of(panel) == 70
    shoot("alarm", panel)
    readable(panel)
    panel.get_by_role("tab", name=re.compile("flow")).click()
    shoot("flow", panel)
    panel.get_by_role("tab", name="Confusion").click()
    good = int(re.search(r"step (\d+);", said.inner_text())[1])
    panel.press("r")
    expect(panel.locator(".vt-w-alarm")).to_be_hidden()
    expect(panel.locator(".vt-step")).to_contain_text(re.compile(rf"^{good} of "))
    expect(panel.locator(".vt-w-stat").first).to_contain_text("step, 2nd try")
    readable(panel)  # Resume stands where the mouse rests after Pause
    shoot("rewound", panel)
    press(panel, "open the stepper")
    expect(panel.locator(".vt-said")).to_contain_text("The stepper opens at the next backward pass")
    press(panel, "resume")
    steps = made.output(1).locator(".vt-stepper")
    expect(steps).to_be_visible(timeout=20_000)
    made.output(1).get_by_role("button", name="run the rest").click()
    made.wait(1)
    expect(panel.locator(".vt-status")).to_have_text("finished")
    shoot("finished", panel)


def test_going_on_anyway_is_said_and_the_run_does_not_end_as_finished(alarmed, shoot):
    made, panel = alarmed()
    panel.get_by_role("button", name="Go on anyway").click()
    made.wait(1)
    expect(panel.locator(".vt-status")).to_have_text("ended, NaN")
    expect(panel.get_by_role("alert")).to_contain_text("Went on anyway after step 70.")
    expect(panel.locator(".vt-w-without")).to_contain_text("not finite, counted nowhere")
    shoot("ended", panel)
    panel.get_by_role("button", name=re.compile("Rewind to")).click()
    expect(panel.locator(".vt-w-alarm")).to_be_hidden()
    shoot("rewound", panel)


def test_stop_and_keep_the_last_good_weights(alarmed):
    made, panel = alarmed()
    panel.get_by_role("button", name=re.compile("Stop, keep")).click()
    made.wait(1)
    expect(panel.locator(".vt-status")).to_have_text("stopped")
    seen = made.execute("print(run.status, run.alarm, all(p.isfinite().all() for p in net.parameters()))")
    assert made.text(seen) == "stopped None True\n"


def test_the_switch_before_the_first_step_lets_the_loop_run_on(notebook):
    made = notebook(START, TRAIN.replace("bad = {70}", "import time; time.sleep(3); bad = {70}"))
    made.run(0)
    made.start(1)
    panel = made.output(1).locator(".vt-watch").first
    expect(panel).to_be_visible(timeout=20_000)
    panel.get_by_label("pause at an alarm").uncheck(timeout=2000)  # nothing was asked of the run so far
    made.wait(1)
    expect(panel.locator(".vt-status")).to_have_text("ended, NaN")
    panel.get_by_role("tab", name=re.compile("^Log")).click()
    expect(panel.locator(".vt-log")).to_contain_text("pause at an alarm")
