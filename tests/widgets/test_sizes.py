"""What a display weighs in a saved notebook: text, picture and page together, with the built bundles."""

import pytest

import vistorch
from vistorch import nn
from vistorch.debug.array import parameter, record, strip
from vistorch.widgets._frame import bundles
from vistorch.widgets._frame.display import Display


def noise(*shape, dtype=None):
    """Numbers that no packing makes smaller."""
    made = vistorch.randn(*shape, generator=vistorch.Generator().manual_seed(0))
    return made if dtype is None else made.to(dtype)


def linked(*shape):
    return parameter(nn.Parameter(noise(*shape)), noise(*shape), noise(*shape))


MADE = {
    "wide": lambda: record(noise(1000, 1000)),
    "huge": lambda: record(noise(3163, 3163)),
    "as many as fit exactly": lambda: record(noise(109, 110)),
    "double": lambda: record(noise(1000, 999, dtype=vistorch.float64)),
    "complex": lambda: record(vistorch.complex(noise(500, 500), noise(500, 500))),
    "whole": lambda: record((noise(700, 700) * 1e6).to(vistorch.int64)),
    "pictures": lambda: record(noise(64, 3, 64, 64).sigmoid()),
    "linked": lambda: linked(1000, 1000),
    "linked, exact": lambda: linked(77, 77),
    "strip": lambda: strip({str(i): noise(200, 200) for i in range(40)}),
    "one axis": lambda: record(noise(10**6)),
}


@pytest.mark.parametrize("name", MADE)
def test_a_display_is_small(name):
    bundle = Display(MADE[name](), "x")._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "image/png", "text/html"]
    kilobytes = sum(len(text.encode()) for text in bundle.values()) / 1000
    assert 30 < kilobytes <= (120 if name == "wide" else 160)


@pytest.mark.parametrize("kind", sorted(path.stem for path in bundles.STATIC.glob("*.js")))
def test_a_bundle_is_small(kind):
    assert 1_000 < bundles.source(kind).stat().st_size < 60_000


def test_there_are_bundles():
    assert {path.stem for path in bundles.STATIC.glob("*.js")} >= {"array", "vars"}
