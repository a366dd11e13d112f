"""Every module under autocast on the CPU, from its record: types, values and gradients against torch's."""

from typing import Any

import numpy as np
import pytest

from tests.nn.record import Build, Layer
from tests.nn.samples import LAYERS
from tests.nn.test_modules import build_in, pull
from tests.ops.library import L, attempt, flat, numpy_of, prepare, torch
from tests.ops.record import Sample

# Where torch's own lists and ours meet a composed function at another place.
DIFFERS = {
    ("LocalResponseNorm", "bfloat16"): "bfloat16 is refused outside the region's lists",
    ("MaxPool3d", "bfloat16"): "with its indices torch forgets to cast",
    ("LSTM", "float32"): "with projections torch forgets that its state was cast",
}
# bfloat16 has three digits, and torch rounds between the parts of a layer where we round once
ROUGH = {"TransformerDecoderLayer", "TransformerEncoder", "Transformer"}


def run(lib: Any, layer: Layer, build: Build, feed: Sample, dtype: str) -> list[Any]:
    """The results of a call inside a region, and the gradients that float32 parameters get."""
    module = build_in(lib, layer, build)
    call = prepare(lib, feed, dtype, needs_grad=layer.grads)
    lib.manual_seed(3)
    with lib.autocast("cpu", dtype=lib.bfloat16):
        out = module(*call.args, **call.kwargs)
    outs = [t for t in flat(layer.flatten(out) if layer.flatten else out) if isinstance(t, lib.Tensor)]
    found: list[Any] = list(outs)
    if layer.grads and pull(lib, outs):
        found += [t.grad for t in (*module.parameters(), *call.grads)]
    return [None if t is None else (str(t.dtype).rpartition(".")[2], numpy_of(t.float())) for t in found]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", sorted({layer.name for layer in LAYERS}))
def test_same(name: str, dtype: str) -> None:
    differences = []
    calls = [(record, build) for record in LAYERS if record.name == name for build in record.builds]
    for layer, build in calls:
        for feed in build.feeds[:1]:
            theirs = attempt(lambda: run(torch, layer, build, feed, dtype))  # noqa: B023
            if theirs.error is not None:
                continue
            ours = attempt(lambda: run(L, layer, build, feed, dtype))  # noqa: B023
            if ours.error is not None:
                differences.append((build, ours.error))
                continue
            for i, (a, b) in enumerate(zip(ours.value, theirs.value, strict=True)):
                if (a is None) != (b is None) or (a is not None and a[0] != b[0]):
                    differences.append((build, i, a, b))
                elif a is not None and name not in ROUGH:
                    scale = np.abs(b[1]).max(initial=1.0)
                    if not np.allclose(a[1], b[1], rtol=0.05, atol=0.05 * scale, equal_nan=True):
                        differences.append((build, i, a, b))
    if (name, dtype) in DIFFERS:
        assert differences, "no longer differs: take it off the list"
    else:
        assert not differences


@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
def test_a_recurrent_network_after_a_cast_layer(name: str) -> None:
    """What comes out of a Linear is bfloat16 there, while the weights of the network are float32."""
    kinds = []
    for lib in (L, torch):
        network = getattr(lib.nn, name)(4, 3)
        with lib.autocast("cpu", dtype=lib.bfloat16):
            out, state = network(lib.nn.Linear(4, 4)(lib.ones(2, 4)))
        out.float().sum().backward()
        kinds.append([str(t.dtype).rpartition(".")[2] for t in flat((out, state))])
        kinds[-1].append(str(network.weight_ih_l0.grad.dtype).rpartition(".")[2])
        with pytest.raises(ValueError, match="does not match weight dtype"):
            network(lib.ones(2, 4, dtype=lib.bfloat16))
    assert kinds[0] == kinds[1]
