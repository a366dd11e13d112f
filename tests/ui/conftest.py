"""Fixtures of the tests that need a browser: servers, pages, notebooks, single HTML files.

Invariant: servers and browser are started once a session and only when asked for; a page lives for one test.
"""

import itertools

import pytest

from tests.ui import browsers, driver, kernels, servers

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
    for item in items:
        if item.path.is_relative_to(servers.ROOT / "tests" / "ui"):
            item.add_marker(pytest.mark.ui)


def pytest_runtest_setup(item):
    """Skip what needs a browser where there is none, before a server is started for it."""
    if "browser" in getattr(item, "fixturenames", ()) and browsers.find() is None:
        pytest.skip(browsers.NONE_FOUND)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Let the fixtures of a test know how it went."""
    report = yield
    if report.when == "call":
        item.failed_in_call = report.failed
    return report


@pytest.fixture(scope="session")
def browser():
    """One Chromium for the session."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browsers.find(), args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def context(browser):
    """One profile for the session, so that Lab's code is fetched once."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, reduced_motion="reduce")
    yield context
    context.close()


@pytest.fixture(params=["light", "dark"])
def theme(request):
    """Both themes, one after the other."""
    return request.param


@pytest.fixture
def page(request, context):
    """A page; an error in its console, or a request to another host, fails the test."""
    page = context.new_page()
    page.console = driver.Console(page)
    yield page
    if getattr(request.node, "failed_in_call", False):
        driver.shoot(page, request.node.name, "failed")
    page.close()
    assert not page.console.errors()


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
    count = itertools.count()

    def new(*sources, theme="light", kernel="python3"):
        if kernel in kernels.PINNED:
            kernels.fetch(kernel)
        name = f"notebook-{next(count)}.ipynb"
        driver.write_notebook(jupyter.folder / name, sources, kernel)
        nb = driver.Notebook(page, jupyter, name)
        nb.theme(theme)
        return nb

    yield new
    page.goto("about:blank")
    jupyter.end_kernels()
