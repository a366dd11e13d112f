"""Fourier transforms against their definition, against PyTorch, and back again.

Invariant: a transform of float32 is complex64 all the way.
"""

import numpy as np
import pytest

import vistorch
from tests.ops.library import torch

ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]


def test_the_definition():
    x = np.random.default_rng(0).uniform(-1, 1, 7)
    k = np.arange(7)
    matrix = np.exp(-2j * np.pi * np.outer(k, k) / 7)
    np.testing.assert_allclose(vistorch.fft.fft(vistorch.tensor(x)).numpy(), matrix @ x, atol=1e-12)


@pytest.mark.parametrize("norm", [None, "forward", "backward", "ortho"])
@pytest.mark.parametrize("n", [7, 8])
def test_there_and_back(norm, n):
    x = vistorch.tensor(np.random.default_rng(1).uniform(-1, 1, (3, n)))
    fft = vistorch.fft
    pairs = [
        fft.ifft(fft.fft(x, norm=norm), norm=norm).real,
        fft.irfft(fft.rfft(x, norm=norm), n, norm=norm),
        fft.hfft(fft.ihfft(x, norm=norm), n, norm=norm),
        fft.irfft2(fft.rfft2(x, norm=norm), (3, n), norm=norm),
        fft.ifftn(fft.fftn(x, norm=norm), norm=norm).real,
        fft.ifftshift(fft.fftshift(x)),
    ]
    for back in pairs:
        np.testing.assert_allclose(back.numpy(), x.numpy(), atol=1e-12)


@pytest.mark.parametrize("name", [n + e for n in ONE for e in ("", "2", "n")])
def test_float32_stays_single(name):
    x = np.random.default_rng(2).uniform(-1, 1, (4, 6)).astype(np.float32)
    mine, theirs = (getattr(lib.fft, name)(lib.tensor(x)) for lib in (vistorch, torch))
    assert str(mine.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
    np.testing.assert_allclose(mine.numpy(), theirs.resolve_conj().numpy(), 1e-4, 1e-5)


@pytest.mark.parametrize("name", ["hfft2", "hfftn", "ihfft2", "ihfftn"])
@pytest.mark.parametrize("size", [None, (3, 5), (4, 8)])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_hermitian_transforms_of_several_dims(name, size, norm):
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, (4, 6))
    if name[0] == "h":
        x = x + 1j * rng.uniform(-1, 1, (4, 6))
    out = []
    for lib in (vistorch, torch):
        leaf = lib.tensor(x, requires_grad=True)
        y = getattr(lib.fft, name)(leaf, size, norm=norm)
        y.abs().square().sum().backward()
        out.append(
            [
                t.detach().resolve_conj().numpy() if lib is torch else t.detach().numpy()
                for t in (y, leaf.grad)
            ]
        )
    for p, q in zip(*out, strict=True):
        np.testing.assert_allclose(p, q, 1e-9, 1e-11)


@pytest.mark.parametrize("n", [5, 6])
def test_the_half_spectrum_counts_twice(n):
    """A gradient into a half spectrum: irfft reads all but the first and, for even sizes, the last value twice."""
    half = vistorch.tensor(np.ones(n // 2 + 1) + 0j, requires_grad=True)
    vistorch.fft.irfft(half, n)[0].backward()
    expected = np.full(n // 2 + 1, 2.0 / n)
    expected[0] /= 2
    if n % 2 == 0:
        expected[-1] /= 2
    np.testing.assert_allclose(half.grad.numpy(), expected, atol=1e-14)


@pytest.mark.parametrize("n", [0, 1, 4, 5])
def test_frequencies(n):
    for name in ("fftfreq", "rfftfreq"):
        mine, theirs = (getattr(lib.fft, name)(n, 0.25) for lib in (vistorch, torch))
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy())
