"""Fixtures of the tests that need a browser: servers, pages, notebooks, single HTML files.

Invariant: servers and browser are started once a session and only when asked for. A page lives for one test,
but for the one in which an application is open: there every test has a notebook and a kernel of its own.
"""

import itertools
import os

import pytest

from tests.ui import browsers, driver, kernels, servers

NUMBERS = itertools.count()
VIEWPORT = {"width": 1280, "height": 1000}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    # Nothing outside this machine answers: what we show must work offline.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


def pytest_collection_modifyitems(items):
    """Everything in this folder runs one test at a time, by `make ui`."""
    here = str(servers.ROOT / "tests" / "ui") + os.sep
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.ui)


def pytest_runtest_setup(item):
    """Skip what needs a browser where there is none, before a server is started for it."""
    if "playwright" in getattr(item, "fixturenames", ()) and browsers.find() is None:
        pytest.skip(browsers.NONE_FOUND)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Let the fixtures of a test know how it went."""
    report = yield
    if report.when == "call":
        item.failed_in_call = report.failed
    return report


@pytest.fixture(scope="session")
def playwright():
    """What drives browsers."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright):
    """A Chromium in which a test makes contexts of its own."""
    chromium = playwright.chromium.launch(executable_path=browsers.find(), args=FLAGS)
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def context(playwright, tmp_path_factory):
    """One profile for the session, on disk: only there is the applications' code kept compiled."""
    context = playwright.chromium.launch_persistent_context(
        tmp_path_factory.mktemp("profile"),
        executable_path=browsers.find(),
        args=FLAGS,
        viewport=VIEWPORT,
        reduced_motion="reduce",
    )
    yield context
    context.close()


@pytest.fixture(scope="session")
def pages():
    """The page in which each application stays open from test to test, by the name of its fixture."""
    return {}


@pytest.fixture(params=["light", "dark"])
def theme(request):
    """Both themes, one after the other."""
    return request.param


def slowed(page):
    """The page, its processor as many times slower as $SLOW says: tests that lose a race then are found."""
    if slow := os.environ.get("SLOW"):
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": float(slow)})
    return page


@pytest.fixture
def page(request, context, pages):
    """A page; an error in its console, or a request to another host, fails the test.

    The test of a notebook has the page in which its application is open: to load it takes longer than most of them.
    """
    application = request.node.callspec.params["jupyter"] if "notebook" in request.fixturenames else None
    page = pages.pop(application, None) or slowed(context.new_page())
    page.bring_to_front()  # Jupyter hardly asks its server anything in a page that nobody sees
    page.console = driver.Console(page)
    yield page
    failed = getattr(request.node, "failed_in_call", False)
    if failed:
        driver.shoot(page, request.node.name, "failed")
    page.console.stop()
    errors = page.console.errors()
    asks = page.locator(".jp-Dialog").count()  # such as that a kernel died
    if application and not failed and not errors and not asks and page.url.startswith("http"):
        page.set_viewport_size(VIEWPORT)
        page.mouse.move(0, 0)
        pages[application] = page
    else:
        page.close()
    assert not errors


@pytest.fixture
def shoot(request, page):
    """`shoot(name, target=page)` saves a picture among the artefacts."""
    return lambda name, target=page: driver.shoot(target, request.node.name, name)


@pytest.fixture
def standalone(page, tmp_path):
    """`standalone(html, theme="light")` opens a piece of HTML as a file, with no server and no network."""
    count = itertools.count()

    def show(html, theme="light"):
        whole = f"<!doctype html><html><head><meta charset='utf-8'></head><body>{html}</body></html>"
        path = tmp_path / f"page-{next(count)}.html"
        path.write_text(html if html.lstrip()[:9].lower() == "<!doctype" else whole, encoding="utf-8")
        page.emulate_media(color_scheme=theme)
        page.goto(path.as_uri())
        return page

    return show


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """JupyterLab, for the session."""
    with servers.server("lab", tmp_path_factory.mktemp("lab"), kernelspecs=kernels.specs()) as running:
        yield running


@pytest.fixture(scope="session")
def notebook7(tmp_path_factory):
    """Notebook 7, for the session."""
    with servers.server(
        "notebook", tmp_path_factory.mktemp("notebook"), kernelspecs=kernels.specs()
    ) as running:
        yield running


@pytest.fixture(params=["lab", "notebook7"])
def jupyter(request):
    """Both applications, one after the other."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def notebook(jupyter, page):
    """`notebook(*sources, theme="light", kernel="python3")` opens a new notebook with these cells.

    Besides "python3" there are the kernels of `kernels.NAMES`.
    """

    def new(*sources, theme="light", kernel="python3"):
        if kernel in kernels.PINNED:
            kernels.fetch(kernel)
        name = f"notebook-{next(NUMBERS)}.ipynb"  # no name twice: the kernel of the last test may still be ending
        driver.write_notebook(jupyter.folder / name, sources, kernel)
        if kernel == "python3":
            jupyter.lend(name)
        book = driver.Notebook(page, jupyter, name, in_place=True)
        book.theme(theme)
        return book

    yield new
    if driver.is_open(page, jupyter):
        page.evaluate(driver.CLOSE_ALL)
    jupyter.end_kernels(wait=False)
