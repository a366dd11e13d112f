"""A front end that is built for one test: pages of a line each."""

import pytest

from vistorch.widgets._frame import bundles, display, live

PAGE = "export default { render({ model, el }) { el.textContent = model.get('payload').byteLength } }"


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """A folder with a page for the kind "array"; what was shown before is put aside."""
    monkeypatch.setattr(bundles, "STATIC", tmp_path)
    monkeypatch.setattr(display, "shown", display.Shown())
    monkeypatch.setattr(live, "shown", display.shown)
    (tmp_path / "array.js").write_text(PAGE)
    yield tmp_path
    for _, view in list(live.Live._open.values()):
        view.close()
