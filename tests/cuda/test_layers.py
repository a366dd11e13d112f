"""Layers on a device: one build of each over the strict stand-in here, all of them on a card.

What draws random numbers gives a card's, not the CPU's, so such a run is not compared.
"""

from typing import Any

import pytest

from tests.nn import test_modules as modules
from tests.nn.record import Build, Layer
from tests.nn.samples import LAYERS
from tests.ops.draws import TAKEN, draws_are_counted  # noqa: F401  the fixture counts draws
from tests.ops.library import L, torch
from tests.ops.record import Sample

PLACE = "cuda:0"
FIRST = [
    pytest.param(layer, build, build.feeds[0], id=layer.name)
    for layer in LAYERS
    if "forward" not in layer.differs
    for build in [next((b for b in layer.builds if b.feeds), None)]
    if build is not None
]


def check(layer: Layer, build: Build, feed: Sample, dtype: str) -> None:
    """A layer on the device against torch's on the CPU."""
    before = len(TAKEN)
    ours: Any = modules.run(L, layer, build, feed, dtype, PLACE)
    if len(TAKEN) == before:
        modules.compared(layer, dtype, ours, modules.run(torch, layer, build, feed, dtype))


@pytest.mark.parametrize("layer, build, feed", FIRST)
def test_layers_over_the_stand_in(strict_gpu, layer: Layer, build: Build, feed: Sample) -> None:
    check(layer, build, feed, layer.dtypes[-1])
