"""Tensors of random numbers: rand, randn, ..."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...face import expose
from ...kernels import sampling
from ...places import place_of
from ...random import default_generator
from ...tensor import Tensor
from .arguments import leaf, sizes
from .data import put
from .fills import bare


def _plain(name: str, draw: Any) -> Any:
    def make(
        *size: Any,
        generator: Any = None,
        out: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        **named: Any,
    ) -> Tensor:
        shape = sizes(size, name, named)
        dt = dtypes.default.np if dtype is None else dtypes.as_np(dtype, name)
        place = place_of(device, name)
        d = draw(default_generator if generator is None else generator, shape, dt)
        return leaf(bare(put(d, place), place), requires_grad, name)

    make.__name__ = make.__qualname__ = name
    return expose(make, method=False)


rand = _plain("rand", sampling.uniform)
randn = _plain("randn", sampling.normal)
