"""Fast kernels at every size: what the tests of them, and the whole suite in that mode, switch on.

`python -m pytest -p tests.engine.kernels.fast tests/ops` runs any tests with the sizes set to nothing, so that small
arrays take the fast kernels too. Invariant: where oneDNN is not, such a run ends at once.
"""

from contextlib import contextmanager

from vistorch.engine.kernels.fast.switch import onednn, sizes
from vistorch.engine.ops.linalg import matmul_fast

LEAST = 2  # one element may be a number of numpy, whose memory is not an array's
NAMES = [name for name in vars(type(sizes)) if not name.startswith("_")]


def _any_images(xs, ws, out, groups):
    return len(ws) == 4 and groups == 1


def pytest_configure(config):
    """As a plugin: all sizes for the whole run."""
    if not onednn.ready():
        raise RuntimeError(f"needs oneDNN: {onednn.why}")
    for name in NAMES:
        setattr(sizes, name, LEAST)
    matmul_fast._MANY = 0
    onednn.primitives.OFTEN = 0
    onednn.convolution.suits = (
        _any_images  # results that lie with channels last, of any convolution of images
    )


@contextmanager
def every_size():
    """Fast kernels whatever the size, until the end of the block."""
    if onednn.ready():
        onednn.primitives.forget()  # a primitive for every shape, whatever was asked for before
    many, matmul_fast._MANY = matmul_fast._MANY, 0
    if onednn.on:
        suits, onednn.convolution.suits = onednn.convolution.suits, _any_images
    for name in NAMES:
        setattr(sizes, name, LEAST)
    try:
        yield
    finally:
        matmul_fast._MANY = many
        if onednn.on:
            onednn.convolution.suits = suits
        for name in NAMES:
            vars(sizes).pop(name, None)
