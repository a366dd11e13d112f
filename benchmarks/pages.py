"""What looking into a backward pass costs the notebook: the bytes each display leaves in it, and a step in the browser.

The bytes are those of a saved output, all layers together, beside those of its text alone. The step is a click on the
stepper of a page in Chromium until the browser has painted; it is left out where there is no browser.
"""

import shutil
from importlib.util import find_spec

from benchmarks import models
from benchmarks.graphs import clock, resnet
from benchmarks.rows import add

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
CLICK = """() => new Promise((done) => {
  const [first, , on] = document.querySelectorAll('.vt-transport button');
  (on.disabled ? first : on).click();
  requestAnimationFrame(() => setTimeout(done));
})"""


def lenet(lib):
    """A loss of LeNet, the variables, and a cell that computes it again."""
    lib.manual_seed(0)
    net, x, y = models.lenet(lib.nn), lib.randn(32, 3, 32, 32), lib.randint(0, 10, (32,))

    def cell():
        return lib.nn.functional.cross_entropy(net(x), y)

    from vistorch.debug.graph import Calls

    with Calls(forget=True):
        return cell(), {"net": net, "x": x, "y": y}, cell


def step(lib):
    from vistorch import vt

    loss, names, _ = lenet(lib)
    return vt.step(loss, namespace=names)


def graph(lib):
    from vistorch import vt

    loss, names = resnet(lib)
    return vt.graph(loss, namespace=names)


def trace(lib):
    """A cell whose masked logarithm gives NaN in the backward pass of a network."""
    from vistorch import vt

    _, names, _ = lenet(lib)
    with vt.trace() as found:
        p = (names["net"](names["x"]) * 1e4).softmax(-1)
        lib.where(p > 0, -p * p.log(), 0.0).sum().backward()
    return found.display


def memory(lib):
    from vistorch import vt

    loss, names, _ = lenet(lib)
    return vt.memory(loss, namespace=names)


def compare(lib):
    """Two seeds of the same network."""
    from vistorch import vt

    runs = []
    for seed in (0, 1):
        _, _, cell = lenet(lib)
        lib.manual_seed(seed)
        with vt.record() as made:
            (cell() * lib.rand(())).backward()
        runs.append(made)
    return vt.compare(*runs)


def saved(make):
    """The display's layers as a notebook keeps them."""

    def prepare(lib):
        from vistorch.widgets._frame.display import Display

        record = make(lib).record
        return lambda: sum(len(text) for text in Display(record)._repr_mimebundle_().values())

    return prepare


def seen(make):
    """The text alone."""

    def prepare(lib):
        from vistorch.widgets._frame.display import Display

        record = make(lib).record
        return lambda: len(Display(record).text())

    return prepare


def clicked(lib):
    """One step on in the page of LeNet's pass, to the picture."""
    from tempfile import NamedTemporaryFile

    from playwright.sync_api import sync_playwright  # pyright: ignore[reportMissingImports]

    with NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as file:
        file.write(step(lib).document())
    browser = (
        sync_playwright()
        .start()
        .chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
    )
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.goto(f"file:{file.name}")
    page.wait_for_selector(".vt-pos")
    return lambda: page.evaluate(CLICK)


for _make, _kilobytes in ((graph, 250), (step, 250), (trace, 120), (memory, 120), (compare, 120)):
    add(
        "pages", f"saved output of %vt {_make.__name__}", saved(_make), base=seen(_make), kilobytes=_kilobytes
    )
if CHROMIUM and find_spec("playwright") is not None:
    add("pages", "stepper: click to paint (50 ms)", clicked, base=clock(0.05), milliseconds=50, waits=True)
