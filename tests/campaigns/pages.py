"""What a page may send, and what a name may hold: messages of any shape, and names that are markup or script.

Invariant: a hostile name is given to every view, and every payload would change the page's title if it ran.
"""

import contextlib
import importlib
import logging
import random
from typing import Any
from unittest import mock

import vistorch
from vistorch import nn, vt
from vistorch.widgets._frame.display import Display
from vistorch.widgets._frame.live import Live
from vistorch.widgets._frame.standalone import document
from vistorch.widgets.watch.live import WatchView

from .result import Result

CANARY = "vistorch-canary"
RUN = f"document.title='{CANARY}'"
PAYLOADS = (
    f"<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"<svg onload={RUN}>",
    f"</script><script>{RUN}</script>",
    f"<!--<script>{RUN}//-->",
    f'"><script>{RUN}</script>',
    f"'><img src=x onerror={RUN}>",
    f'" onmouseover="{RUN}" autofocus onfocus="{RUN}',
    f"</style><script>{RUN}</script>",
    f"</pre></div><script>{RUN}</script>",
    f"</textarea><script>{RUN}</script>",
    f"]]><script>{RUN}</script>",
    f"</title><script>{RUN}</script>",
    f"`;{RUN};`${{{RUN}}}",
    f"\\u003cscript\\u003e{RUN}\\u003c/script\\u003e",
    f"javascript:{RUN}",
    f'<iframe srcdoc="<script>parent.{RUN}</script>">',
    f"\u2028<script>{RUN}</script>\x00",
)


def hostile_displays(payload: str) -> dict[str, Any]:
    """A display of every kind, with the payload for a name wherever a user's text may stand."""
    vistorch.manual_seed(0)
    net = nn.Sequential()
    net.add_module(payload.replace(".", "·") or "x", nn.Linear(4, 3))
    net.add_module("second", nn.ReLU())
    x = vistorch.randn(6, 4)
    loss = net(x).square().mean()
    names = {payload: x, "loss": loss, "net": net}
    with vt.record(f"{payload} a") as a:
        x.exp().sum()
    with vt.record(f"{payload} b") as b:
        (x + 1e-3).exp().sum()
    out = {
        "array": vt.show({payload: x}),
        "module": vt.show(net),
        "vars": vt.vars(namespace=names),
        "graph": vt.graph(loss, namespace=names, live="off"),
        "steps": vt.step(net(x).square().mean(), namespace=names, live="off"),
        "memory": vt.memory(net(x).square().mean()),
        "compare": vt.compare(a, b),
    }
    optimizer = vistorch.optim.SGD(net.parameters(), lr=0.1)
    with vt.watch(net, optimizer, classes=[payload, "<b>b</b>", "c"], title=payload) as run:
        for _ in range(3):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), vistorch.tensor([0, 1, 2, 0, 1, 2])).backward()
            optimizer.step()
    out["watch"] = run
    out["flow"] = vt.flow(net)
    return out


def pages_of(displays: dict[str, Any]) -> dict[str, str]:
    """Each as a whole page and, where there is one, as a picture inside a page."""
    pages = {}
    for name, one in displays.items():
        display = getattr(one, "display", one)
        if not isinstance(display, Display):
            display = Display(one.record() if hasattr(one, "record") else one)
        pages[name] = document("page", display.html())
        for mime, data in display.still().items():
            if "svg" in mime:
                pages[f"{name}, picture"] = f"<!doctype html><body>{data}"
    return pages


def names(tries: int, seed: int = 0, browser: Any = None) -> Result:
    """Open every view with a hostile name in a real browser: no script of it runs, no element of it is made.

    Args:
        tries: how many payloads; the first is a control whose script does run.
        seed: where in the list of payloads to begin.
        browser: a Playwright browser.
    """
    result = Result()
    page = browser.new_page()
    try:
        page.set_content(f"<!doctype html><title>x</title><script>{RUN}</script>")
        result.add("" if page.title() == CANARY else "the control did not run: nothing was tested")
        for i in range(tries):
            payload = PAYLOADS[(seed + i) % len(PAYLOADS)]
            for name, html in pages_of(hostile_displays(payload)).items():
                page.set_content(html)
                page.wait_for_timeout(150)
                page.evaluate("document.querySelectorAll('button, summary').forEach(one => one.focus())")
                wrong = "ran" if page.title() == CANARY else ""
                made = page.evaluate(
                    "() => { const found = []; const walk = root => { for (const one of root.querySelectorAll('*')) {"
                    "if (one.matches('img[src=x], iframe, [onerror], [onload], [onfocus], [onmouseover]'))"
                    "found.push(one.outerHTML.slice(0, 80)); if (one.shadowRoot) walk(one.shadowRoot) } };"
                    "walk(document); return found }"
                )
                result.add(f"{name} with {payload!r}: {wrong} {made}" if wrong or made else "")
    finally:
        page.close()
    return result


def values(draw: random.Random, depth: int = 0) -> Any:
    """Anything JSON can say, with a liking for what breaks arithmetic."""
    leaves = [
        None, True, False, 0, 1, -1, 2**31, 2**53, 2**63, -(2**63), 10**400, 0.5, -0.0, 1e308, float("inf"),
        float("nan"), "", "0", "tile", "x" * 1000, "\x00", "\ud800", PAYLOADS[0],
    ]  # fmt: skip
    kind = draw.randrange(8)
    if depth > 3 or kind < 5:
        return draw.choice(leaves)
    if kind == 5:
        return [values(draw, depth + 1) for _ in range(draw.randrange(4))]
    if kind == 6:
        return {str(values(draw, 9)): values(draw, depth + 1) for _ in range(draw.randrange(4))}
    return [values(draw, depth + 1)] * draw.choice((1, 2, 5, 1000))


FIELDS = (
    "id", "item", "layer", "start", "stop", "block", "node", "output", "group", "row", "do", "value", "step", "name",
    "to", "where", "break", "open",
)  # fmt: skip


def messages(tries: int, seed: int = 0) -> Result:
    """Send every live view messages of any shape: each is answered or refused, and no exception leaves the handler."""
    draw, result = random.Random(seed), Result()
    logging.getLogger("vistorch").setLevel(logging.CRITICAL)
    try:
        for name, view in live_views().items():
            words = list(view.answers)
            for _ in range(tries):
                message: Any = {"type": draw.choice(words)} if draw.random() < 0.9 else values(draw)
                if isinstance(message, dict):
                    if draw.random() < 0.8:
                        message["id"] = draw.randrange(100)
                    for field in draw.sample(FIELDS, draw.randrange(5)):
                        message[field] = values(draw) if draw.random() < 0.7 else draw.randrange(3)
                    if message.get("type") == "close":
                        continue
                try:
                    view._receive(view, message, [])
                    result.add("")
                except Exception as error:
                    result.add(f"{name}, {str(message)[:120]}: {type(error).__name__}: {error}")
            view.close()
    finally:
        logging.getLogger("vistorch").setLevel(logging.NOTSET)
    return result


def live_views() -> dict[str, Live]:
    """One live view of each kind, over something small: as a notebook would be given them."""
    net, given = nn.Linear(4, 3), vistorch.randn(5, 4)
    x = vistorch.randn(300, 400)
    with contextlib.ExitStack() as stack:
        for kind in ("array", "graph", "steps", "vars"):
            place = importlib.import_module(f"vistorch.widgets.{kind}.command")
            stack.enter_context(mock.patch.object(place, "has_front_end", lambda shell: True))
        found: dict[str, Any] = {
            "array": vt.show(x, live="on"),
            "vars": vt.vars(namespace={"x": x, "net": net}),
            "graph": vt.graph(net(given).sum(), live="on"),
            "steps": vt.step(net(given).sum(), live="on"),
        }
    optimizer = vistorch.optim.SGD(net.parameters(), lr=0.1)
    with vt.watch(net, optimizer) as run:
        net(given).sum().backward()
        optimizer.step()
    found["watch"] = WatchView(Display(run.record()), run)
    assert all(isinstance(one, Live) for one in found.values()), found
    return found
