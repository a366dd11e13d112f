"""The panel of a training: in a file with no kernel behind it, and fed with the deltas of a real run."""

import base64
import itertools
import json

import numpy as np
import pytest
from playwright.sync_api import expect

import vistorch
import vistorch.nn.functional as F
from tests.ui.views import boxes
from vistorch import nn, optim
from vistorch.debug.watch import watch
from vistorch.utils.data import DataLoader
from vistorch.vision.datasets import Shapes
from vistorch.vision.transforms import ToTensor
from vistorch.widgets._frame import bundles, standalone, wire

MARKUP = "<img src=x onerror=alert(1)>"
HARNESS = """<!doctype html><html><head><meta charset="utf-8"></head><body style="margin:0"><div id="host"></div>
<script type="module">
const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
const url = URL.createObjectURL(new Blob([bytes(%(code)s)], {type: "text/javascript"}));
const page = (await import(url)).default;
const handlers = new Map(), held = {payload: bytes(%(payload)s), live: true};
window.sent = [];
window.listeners = () => [...handlers.values()].reduce((n, one) => n + one.size, 0);
window.send = (message, text) => {
  const buffers = text ? [new DataView(bytes(text).buffer)] : [];
  for (const f of [...(handlers.get("msg:custom") ?? [])]) f(message, buffers);
};
const model = {
  get: name => held[name],
  on(event, f) { handlers.set(event, (handlers.get(event) ?? new Set()).add(f)); },
  off(event, f) { handlers.get(event)?.delete(f); },
  send(message) { sent.push(message); },
};
window.ended = new AbortController();
await page.render({model, el: document.getElementById("host"), signal: ended.signal});
window.ready = true;
</script></body></html>"""
FRAMES = "() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(r))))"

# What is kept of each cell of the matrix.
SAMPLES = """async () => {
  const said = [];
  for (const cell of document.querySelectorAll(".vt-w-cell:not(.vt-w-zero, .vt-w-right)")) {
    cell.click();
    await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));
    said.push(document.querySelector(".vt-samples").innerText);
  }
  return said.join("\\n");
}"""


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2).flatten(1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class Recorded:
    """A run of 60 steps with a rewind: its first state, its deltas, its state in the middle, paused and at the end."""

    def __init__(self):
        vistorch.manual_seed(0)
        train, test = Shapes(transform=ToTensor(), length=320), Shapes(None, False, ToTensor(), length=80)
        net = LeNet()
        optimizer = optim.Adam(net.parameters(), lr=2e-3)
        self.deltas, self.states, asked, held = [], {}, set(), []

        def notify(run):
            held.append(run.delta(held[-1]["version"] if held else 0))
            self.deltas.append(wire.pack("delta", held[-1]))
            if run.status == "paused":
                self.states["paused"] = wire.pack("watch", run.record().wire())
                run.resume()

        def poll():
            for at, what in ((25, run.pause), (32, lambda: run.set_lr(1e-2)), (38, run.rewind)):
                if run.step >= at and at not in asked:
                    asked.add(at)
                    what()

        with watch(
            net, optimizer, classes=train.classes, epochs=3, notify=notify, share=0.9, snapshot_every=0
        ) as run:
            self.states["waiting"] = wire.pack("watch", run.record().wire())
            for _ in range(3):
                for x, y in DataLoader(train, batch_size=16, shuffle=True):
                    optimizer.zero_grad()
                    F.cross_entropy(net(x), y).backward()
                    optimizer.step()
                    if run.step == 30:
                        run.snapshot()
                    poll()
                    if run.step % 2 == 0:
                        run.refresh()
                with vistorch.no_grad():
                    net.eval()
                    for x, y in DataLoader(test, batch_size=40):
                        F.cross_entropy(net(x), y)
                    net.train()
                self.states["running"] = wire.pack("watch", run.record().wire())
        self.run = run
        self.states["finished"] = wire.pack("watch", run.record().wire())
        self.whole = wire.pack("watch", run.state())


@pytest.fixture(scope="module")
def recorded():
    return Recorded()


@pytest.fixture
def live(page, tmp_path):
    """`live(payload)` opens a panel whose model counts listeners and keeps what the page sends."""

    def show(payload, width=900):
        code = bundles.source("watch").read_bytes()
        html = HARNESS % {
            "code": json.dumps(base64.b64encode(code).decode()),
            "payload": json.dumps(base64.b64encode(payload).decode()),
        }
        (tmp_path / "live.html").write_text(html, encoding="utf-8")
        page.set_viewport_size({"width": width, "height": 900})
        page.goto((tmp_path / "live.html").as_uri())
        page.wait_for_function("window.ready")
        return page

    return show


def notify(page, *deltas):
    for delta in deltas:
        page.evaluate("text => send({type: 'delta'}, text)", base64.b64encode(delta).decode())
    page.evaluate(FRAMES)


def stored(payload):
    return standalone.document("a run", standalone.fragment("watch", payload))


def shown(page):
    """What a panel says and draws, tab by tab: every text, and the pixels of every picture."""
    found = {}
    for tab in ("Confusion", "Gradient flow", "Layer health", "Filters", "Log", "Result"):
        page.get_by_role("tab", name=tab).click()
        page.evaluate(FRAMES)
        page.evaluate(FRAMES)
        found[tab] = page.evaluate(
            "() => [document.querySelector('.vt-watch').innerText,"
            " [...document.querySelectorAll('.vt-watch canvas')].filter(c => c.offsetParent).map(c => c.toDataURL())]"
        )
    page.get_by_role("tab", name="Confusion").click()
    for of in ("window", "validation"):
        page.get_by_role("tab", name=of).click()
        page.evaluate(FRAMES)
        found[of] = page.evaluate(SAMPLES), []
    return found


def test_a_stored_run_shows_with_no_kernel(recorded, standalone, shoot, theme):
    page = standalone(stored(recorded.states["finished"]), theme)
    page.set_viewport_size({"width": 960, "height": 900})
    expect(page.locator(".vt-status")).to_have_text("finished")
    expect(page.locator(".vt-step")).to_have_text(f"{recorded.run.step} of {recorded.run.steps}")
    expect(page.locator(".vt-class")).to_have_count(10)
    expect(page.get_by_role("button", name="pause")).to_have_count(0)
    shoot(theme)
    page.set_viewport_size({"width": 420, "height": 900})
    page.evaluate(FRAMES)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    shoot(f"{theme}-narrow")


def test_classes_say_what_the_run_counted(recorded, standalone):
    page = standalone(stored(recorded.states["finished"]))
    for of in ("window", "validation"):
        page.get_by_role("tab", name=of).click()
        page.evaluate(FRAMES)
        said = recorded.run.accuracy(of)
        shares = [
            r / s if s else 2 for r, s in zip(said["right"].tolist(), said["seen"].tolist(), strict=True)
        ]
        for c, share in enumerate(shares):
            bar = page.locator(f'.vt-class[data-class="{c}"] .vt-bar')
            now = bar.get_attribute("aria-valuenow")
            assert (now is None) if share > 1 else abs(int(now) - 100 * share) <= 0.5 + 1e-9
            few = 0 < said["seen"][c] < 20
            assert ("vt-w-few" in bar.get_attribute("class")) == few
        tops = [box["y"] for box in boxes(*(page.locator(f'.vt-class[data-class="{c}"]') for c in range(10)))]
        assert sorted(range(10), key=tops.__getitem__) == sorted(range(10), key=lambda c: (shares[c], c))


def test_a_cell_opens_its_samples_by_click_and_keys(recorded, standalone):
    page = standalone(stored(recorded.whole))
    page.get_by_role("tab", name="window").click()
    kept = [m for m in recorded.run.metrics.mistakes.wire() if m["where"] == "training"]
    one = kept[-1]
    mine = [m for m in kept if (m["label"], m["read"]) == (one["label"], one["read"])]
    one = max(reversed(mine), key=lambda m: m["step"])  # the newest: cells are also filled from older batches
    cell = page.locator(f'[role=gridcell][data-label="{one["label"]}"][data-read="{one["read"]}"]')
    cell.click()
    expect(cell).to_have_attribute("aria-selected", "true")
    expect(page.locator(".vt-sample")).to_have_count(len(mine))
    expect(page.locator(".vt-sample").first).to_contain_text(f"#{one['index']}")
    for c, score in one["top"]:
        expect(page.locator(".vt-sample").first).to_contain_text(recorded.run.metrics.class_names[c])
        expect(page.locator(".vt-sample").first).to_contain_text(f"{score:.2f}")
    pixel = page.locator(".vt-sample canvas").first.evaluate(
        "c => [c.width, c.height, ...c.getContext('2d').getImageData(5, 7, 1, 1).data]"
    )
    assert pixel == [32, 32, *one["image"][7, 5].tolist(), 255]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    focused = page.evaluate("({...document.activeElement.dataset})")
    assert (int(focused["label"]), int(focused["read"])) == (
        min(9, one["label"] + 1),
        min(9, one["read"] + 1),
    )
    page.keyboard.press("Enter")
    expect(page.locator(".vt-w-cell[aria-selected=true]")).to_have_attribute("data-label", focused["label"])


def test_deltas_end_where_the_whole_run_does(recorded, live, standalone):
    page = live(recorded.states["waiting"])
    expect(page.locator(".vt-status")).to_have_text("waiting")
    assert len(recorded.deltas) > 20
    notify(page, *recorded.deltas)
    expect(page.locator(".vt-status")).to_have_text("finished")
    by_deltas = shown(page)
    assert [m["type"] for m in page.evaluate("sent")] == ["all"]
    page = live(recorded.whole)
    at_once = shown(page)
    for tab, (text, pictures) in at_once.items():
        # What the process held in memory differs from one moment to the next.
        def same(said):
            return [line for line in said.splitlines() if " of " not in line or "MB" not in line]

        assert same(by_deltas[tab][0]) == same(text)
        assert by_deltas[tab][1] == pictures


def test_a_page_that_missed_a_delta_asks_for_everything(recorded, live):
    page = live(recorded.states["waiting"])
    page.wait_for_timeout(1100)
    notify(page, *recorded.deltas[10:14])
    assert [m["type"] for m in page.evaluate("sent")] == ["all", "all"]
    expect(page.locator(".vt-status")).to_have_text("waiting")
    everything = wire.pack("delta", recorded.run.delta(0))
    notify(page, everything)
    expect(page.locator(".vt-status")).to_have_text("finished")


def test_controls_ask_and_say_why_they_cannot(recorded, live, shoot):
    page = live(recorded.states["running"])
    pause, step = page.get_by_role("button", name="pause"), page.get_by_role("button", name="one step")
    expect(step).to_be_disabled()
    expect(step).to_have_attribute("title", "Only when paused.")
    pause.click()
    expect(page.locator(".vt-said")).to_contain_text("asked")
    asked = page.evaluate("sent.at(-1)")
    assert asked["type"] == "do" and asked["do"] == "pause"
    page.evaluate("id => send({type: 'asked', id, say: 'asked; acts at the next step'})", asked["id"])
    expect(page.locator(".vt-said")).to_have_text("asked; acts at the next step")
    page = live(recorded.states["paused"], 760)
    expect(page.locator(".vt-status")).to_have_text("paused")
    expect(page.locator(".vt-said")).to_contain_text("Paused after step 2")
    page.locator(".vt-watch").focus()
    page.keyboard.press("s")
    assert page.evaluate("sent.at(-1).do") == "step"
    page.keyboard.press("p")
    assert page.evaluate("sent.at(-1).do") == "resume"
    page.keyboard.press("l")
    page.keyboard.type("-3")
    page.keyboard.press("Enter")
    expect(page.locator(".vt-refused")).to_have_text("needs a positive number")
    page.get_by_label("learning rate", exact=True).fill("3e-4")
    page.keyboard.press("Enter")
    asked = page.evaluate("sent.at(-1)")
    assert (asked["do"], asked["value"]) == ("lr", 3e-4)
    page.evaluate("id => send({type: 'refused', id, why: 'lr: the run is over'})", asked["id"])
    expect(page.locator(".vt-refused")).to_have_text("the run is over")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    shoot("keys")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_nothing_jumps_from_the_first_state_to_the_last(recorded, live):
    page = live(recorded.states["waiting"])
    places = """() => Object.fromEntries(['.vt-w-controls', '.vt-w-line', '.vt-w-loss', '.vt-w-accuracy',
      '.vt-w-tabs', '.vt-w-panes', '.vt-watch'].map(what => {
        const box = document.querySelector(what).getBoundingClientRect();
        return [what, [box.x, box.y, box.width, box.height]];
      }))"""
    before = page.evaluate(places)
    for delta in recorded.deltas:
        notify(page, delta)
        assert page.evaluate(places) == before


def test_curve_and_flow_show_what_stands_under_the_pointer(recorded, standalone):
    page = standalone(stored(recorded.states["finished"]))
    plot = page.locator(".vt-w-loss .vt-w-plot")
    plot.hover(position={"x": 150, "y": 120})
    expect(page.locator(".vt-w-loss .vt-w-read")).to_contain_text("step ")
    plot.focus()
    page.keyboard.press("Home")
    page.keyboard.press("End")
    expect(page.locator(".vt-w-loss .vt-w-read")).to_contain_text(f"step {recorded.run.step}")
    page.mouse.move(5, 5)
    page.get_by_role("radio", name="table").click()
    expect(page.locator(".vt-w-sheet")).to_contain_text("largest")
    page.get_by_role("tab", name="Gradient flow").click()
    page.locator(".vt-w-flow canvas").first.hover(position={"x": 150, "y": 30})
    expect(page.locator(".vt-w-flow .vt-w-read")).to_contain_text("conv1.weight, step")


OVERLAPS = """() => {
  const found = [];
  for (const row of document.querySelectorAll('.vt-watch .vt-w-h, .vt-watch .vt-w-controls, .vt-watch .vt-w-alarmdo')) {
    const boxes = [...row.children].map(one => [one, one.getBoundingClientRect()]).filter(([, box]) => box.width);
    for (const [a, p] of boxes) for (const [b, q] of boxes)
      if (a !== b && p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1 && q.top < p.bottom - 1)
        found.push([a.textContent, b.textContent]);
  }
  const card = document.querySelector('.vt-watch');
  if (card.scrollWidth > card.clientWidth) found.push([card.scrollWidth, card.clientWidth]);
  return found;
}"""


@pytest.mark.parametrize("width", [330, 430, 520, 700])
def test_nothing_lies_over_another_where_there_is_little_room(recorded, live, width):
    page = live(recorded.states["finished"], width=width)
    expect(page.locator(".vt-w-accuracy .vt-w-big")).to_be_visible()
    assert page.evaluate(OVERLAPS) == []


def test_a_context_without_letters_shows_its_end(live):
    vistorch.manual_seed(0)
    net = nn.Sequential(nn.Embedding(90, 8), nn.Linear(8, 90))
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    ids = vistorch.randint(0, 90, (8, 25))
    with watch(net, optimizer) as run:
        for _ in range(6):
            optimizer.zero_grad()
            F.cross_entropy(net(ids[:, :-1]).reshape(-1, 90), ids[:, 1:].reshape(-1)).backward()
            optimizer.step()
    page = live(wire.pack("watch", run.record().wire()))
    page.get_by_role("tab", name="Tokens").click()
    ends = page.locator(".vt-w-context > span").evaluate_all(
        """all => all.map(one => [one, one.firstElementChild].map(part => part.getBoundingClientRect()))
          .map(([box, text]) => [text.width > box.width + 1, Math.abs(text.right - box.right) < 1])"""
    )
    assert any(cut for cut, _ in ends) and all(right for _, right in ends)


# Frame by frame: the top and height of each row, whether it is on its way, whether it is on top there, its class.
GLIDES = """async ([text, busy]) => {
  const list = document.querySelector(".vt-w-rows"), frames = [];
  // a page that is busy just when a row sets out
  const lifted = new MutationObserver(() => {
    for (const begin = performance.now(); busy && performance.now() - begin < busy;);
    busy = 0;
  });
  lifted.observe(list, { subtree: true, attributeFilter: ["class"] });
  const last = performance.now() + busy + 2000;
  send({ type: "delta" }, text);
  while (performance.now() < last) {
    await new Promise(requestAnimationFrame);
    const top = list.getBoundingClientRect().top;
    frames.push([...list.children].map((row) => {
      const { left, top: y, height } = row.getBoundingClientRect();
      const on = document.elementFromPoint(left + 5, y + height / 2);
      return [y - top, height, row.classList.contains("vt-w-lifted"), row.contains(on), row.dataset.class];
    }));
  }
  return frames;
}"""


@pytest.mark.parametrize("busy", [0, 700])
def test_one_row_at_a_time_crosses_the_others_and_above_them(recorded, live, page, busy):
    page.emulate_media(reduced_motion="no-preference")
    start = wire.unpack(recorded.states["running"])[1]
    live(recorded.states["running"])
    window = start["accuracy"]["window"]
    window["seen"] = np.full(10, 100, np.uint32)
    window["right"] = np.array([52, 8, 16, 24, 32, 95, 40, 3, 64, 72], np.uint32)
    version = start["version"]
    try:
        notify(
            page,
            wire.pack("delta", {"since": version, "version": version + 1, "accuracy": start["accuracy"]}),
        )
        page.wait_for_timeout(2000)
        window["right"] = np.array([52, 8, 16, 60, 32, 1, 40, 80, 64, 72], np.uint32)
        delta = {"since": version + 1, "version": version + 2, "accuracy": start["accuracy"]}
        frames = page.evaluate(GLIDES, [base64.b64encode(wire.pack("delta", delta)).decode(), busy])
    finally:
        page.emulate_media(reduced_motion="reduce")
    lifted = [[row for row in rows if row[2]] for rows in frames]
    assert {row[4] for rows in lifted for row in rows} == {"5", "3", "7"}
    assert max(map(len, lifted)) == 1
    moving = 0
    for rows in frames:
        assert {round(row[1], 2) for row in rows} == {25}
        still = sorted(row[0] for row in rows if not row[2])
        assert min(b - a for a, b in itertools.pairwise(still)) > 24.5
        moving += any(0.1 < row[0] % 25 < 24.9 for row in rows)
        assert all(row[3] for row in rows if row[2])
    assert moving > 5
    order = [row[4] for row in sorted(frames[-1])]
    assert order == ["5", "1", "2", "4", "6", "0", "3", "8", "9", "7"]


def test_no_listener_is_left_when_the_page_goes(recorded, live):
    page = live(recorded.states["running"])
    assert page.evaluate("listeners()") > 2  # messages, changes, and each way in which a connection ends
    notify(page, recorded.deltas[-1])
    page.evaluate("ended.abort()")
    assert page.evaluate("listeners()") == 0
    expect(page.locator(".vt-watch")).to_have_count(0)
    page.keyboard.press("p")
    assert [m["type"] for m in page.evaluate("sent")] == ["all"]


def test_names_with_markup_are_text(standalone, page):
    executed = []
    page.on("dialog", lambda dialog: (executed.append(dialog.message), dialog.dismiss()))
    net = nn.Sequential(nn.Linear(2, 2))
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    with watch(net, optimizer, classes=[MARKUP, "dog"], title=MARKUP) as run:
        for _ in range(3):
            optimizer.zero_grad()
            F.cross_entropy(net(vistorch.eye(2)), vistorch.tensor([0, 1])).backward()
            optimizer.step()
    page = standalone(stored(wire.pack("watch", run.record().wire())))
    expect(page.locator(".vt-watch")).to_contain_text(MARKUP)
    tabs = page.get_by_role("tab").locator("visible=true")
    assert tabs.count() >= 4
    for tab in tabs.all():
        tab.click()
    assert page.locator(".vt-watch img").count() == 0
    assert not executed


def test_a_delta_costs_little(recorded, live):
    page = live(recorded.states["waiting"])
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable")

    def script():
        named = {m["name"]: m["value"] for m in client.send("Performance.getMetrics")["metrics"]}
        return named["ScriptDuration"]

    begin = script()
    for delta in recorded.deltas:
        notify(page, delta)
    each = 1000 * (script() - begin) / len(recorded.deltas)
    assert each < 25, f"{each:.1f} ms of script a delta"
