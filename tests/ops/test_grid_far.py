"""Coordinates of a grid that are no numbers, or infinite, are read where PyTorch reads them."""

import numpy as np
import pytest
import torch

import vistorch as L


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("dims", [2, 3])
def test_what_is_no_number_is_read_where_torch_reads_it(dims, mode, padding, align):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1, 2, *(4, 5, 6)[-dims:])).astype("f4")
    grid = rng.uniform(-1.3, 1.3, (1, 40, *[1] * (dims - 1), dims)).astype("f4")
    grid[0, 0, ..., 0], grid[0, 1, ..., 1], grid[0, 2, ..., 0] = np.inf, -np.inf, np.nan
    if dims == 3 and padding == "reflection":
        grid[0, :2] = 0  # PyTorch counts reflections in an int there, which an infinity overflows
    results = [
        lib.nn.functional.grid_sample(lib.from_numpy(x), lib.from_numpy(grid), mode, padding, align).numpy()
        for lib in (L, torch)
    ]
    np.testing.assert_allclose(*results, atol=1e-5)
