"""The page of every kind of view, over its examples: it shows something, and says of nothing that it cannot.

A kind is found by its folder, as `tests/widgets/test_every_kind.py` finds it.
"""

import pytest

from tests.widgets.every import examples, made
from vistorch.widgets import kinds
from vistorch.widgets._frame.display import Display

pytestmark = pytest.mark.ui


@pytest.mark.parametrize("kind", kinds())
def test_the_page_shows_its_examples(kind, standalone, shoot):
    for name in examples(kind):
        page = standalone(Display(made(kind, name), name).document())
        root = page.locator(".vt").first
        root.wait_for()
        assert root.inner_text().strip(), name
        assert "cannot be shown" not in root.inner_text(), name
        assert page.locator("[data-failed]").count() == 0, name
        shoot(f"{kind}-{name}")
