"""Which pixels each cell of a grid over a region of a picture is made of, and how much of each.

A region's values are the sums of bags of pixels: an embedding bag whose table is the picture, a row for each pixel.

Invariant: gradients go to the pixels; where the regions lie has none, as in torchvision.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import vistorch

from ... import Tensor
from ...nn import functional as F
from ...nn.modules.tuples import _pair


class Regions(NamedTuple):
    """The regions of a call: (K, 5), the number of the picture and the corners; and the grid over each."""

    rois: np.ndarray
    rows: int
    columns: int


class Bags(NamedTuple):
    """For each cell of each region how many entries it has; for each entry its pixel, and its weight if not 1."""

    counts: np.ndarray
    y: np.ndarray
    x: np.ndarray
    weights: np.ndarray | None


def regions(input: Tensor, boxes: Any, output_size: Any) -> Regions:
    """Look at the arguments of a call.

    Args:
        input: pictures, (N, C, height, width).
        boxes: (K, 5), or for each picture (L, 4).
        output_size: rows and columns of the grid, or one number for both.
    """
    if isinstance(boxes, (list, tuple)):
        for one in boxes:
            if one.size(1) != 4:
                raise AssertionError(
                    "The shape of the tensor in the boxes list is not correct as List[Tensor[L, 4]]"
                )
        numbered = [vistorch.cat([vistorch.full_like(b[:, :1], i), b], dim=1) for i, b in enumerate(boxes)]
        boxes = vistorch.cat(numbered, dim=0)
    elif not isinstance(boxes, Tensor):
        raise AssertionError("boxes is expected to be a Tensor[L, 5] or a List[Tensor[K, 4]]")
    elif boxes.size(1) != 5:
        raise AssertionError("The boxes tensor shape is not correct as Tensor[K, 5]")
    if input.dim() != 4:
        raise RuntimeError(f"input should be a 4d tensor, got {input.dim()}D")
    if boxes.dtype != input.dtype:
        raise RuntimeError(
            f"Expected tensor for argument #1 'input' to have the same type as tensor for argument #2 'rois'; but type "
            f"{input.type()} does not equal {boxes.type()}"
        )
    rows, columns = _pair(output_size)
    rois = boxes.detach().cpu().numpy()
    if len(rois) and not 0 <= rois[:, 0].min() <= rois[:, 0].max() < len(input):
        raise IndexError(
            f"a region names picture {int(rois[:, 0].max())}, and there are {len(input)}: they count from 0"
        )
    return Regions(rois, rows, columns)


def channels_of_cells(input: Tensor, found: Regions) -> int:
    """How many channels come out where every cell has channels of its own.

    Args:
        input: pictures.
        found: the regions.
    """
    cells = found.rows * found.columns
    if input.size(1) % cells:
        raise RuntimeError("input channels must be a multiple of pooling height * pooling width")
    return input.size(1) // cells


def _spread(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The number of the bag of each entry, and the number of the entry in its bag."""
    bag = np.repeat(np.arange(len(counts)), counts)
    return bag, np.arange(len(bag)) - np.repeat(np.cumsum(counts) - counts, counts)


def sampled(
    input: Tensor,
    found: Regions,
    spatial_scale: float,
    sampling_ratio: int,
    shift: float,
    least: float | None,
) -> Bags:
    """Cells as means of points between the pixels, each of four of them.

    Args:
        input: pictures.
        found: the regions.
        spatial_scale: pixels of the picture for one of the boxes' units.
        sampling_ratio: points along each side of a cell; about one for each pixel if not positive.
        shift: by how much the regions are moved up and left.
        least: how long a side is at least, if not None.
    """
    cells, points, sides = [], [], []
    for axis, (count, length) in enumerate(((found.rows, input.size(2)), (found.columns, input.size(3)))):
        start = found.rois[:, 2 - axis] * spatial_scale - shift
        size = found.rois[:, 4 - axis] * spatial_scale - shift - start
        size = size if least is None else np.maximum(size, least)
        cell = size / count
        number = np.full(len(start), sampling_ratio) if sampling_ratio > 0 else np.ceil(cell).astype(np.int64)
        cells.append((start, cell, length))
        points.append(np.maximum(number, 0))
        sides.append(count)
    k, row, column = (a.ravel() for a in np.indices((len(found.rois), *sides)))
    counts = points[0][k] * points[1][k]
    bag, within = _spread(counts)
    owner = k[bag]
    across = np.maximum(points[1][owner], 1)
    places = ((row[bag], within // across), (column[bag], within % across))
    ends = []
    for (start, cell, length), number, (at, step) in zip(cells, points, places, strict=True):
        step_size = cell[owner] / number[owner]
        position = start[owner] + at * cell[owner] + (step + 0.5) * step_size
        position = position.astype(found.rois.dtype)
        inside = (position >= -1) & (position <= length)
        position = np.maximum(position, 0)
        low = np.minimum(position.astype(np.int64), length - 1)
        part = np.where(low >= length - 1, 0, position - low)
        ends.append(((low, (1 - part) * inside), (np.minimum(low + 1, length - 1), part * inside)))
    corners = [(y, x) for y in ends[0] for x in ends[1]]
    share = 1 / np.maximum(counts, 1)[bag]
    return Bags(
        4 * counts,
        np.stack([y[0] for y, _ in corners], 1).ravel(),
        np.stack([x[0] for _, x in corners], 1).ravel(),
        np.stack([y[1] * x[1] * share for y, x in corners], 1).ravel(),
    )


def _rounded(a: np.ndarray) -> np.ndarray:
    """Halves away from zero, as C does."""
    return (np.sign(a) * np.floor(np.abs(a) + 0.5)).astype(np.int64)


def whole(input: Tensor, found: Regions, spatial_scale: float, closed: bool) -> Bags:
    """Cells as whole pixels.

    Args:
        input: pictures.
        found: the regions.
        spatial_scale: pixels of the picture for one of the boxes' units.
        closed: whether the last corner belongs to the region.
    """
    edges = []
    for axis, (count, length) in enumerate(((found.rows, input.size(2)), (found.columns, input.size(3)))):
        start = _rounded(found.rois[:, 2 - axis] * spatial_scale)
        last = _rounded(found.rois[:, 4 - axis] * spatial_scale)
        cell = np.maximum(last - start + closed, 1).astype(found.rois.dtype) / count
        at = np.arange(count).astype(found.rois.dtype)
        low = np.floor(at * cell[:, None]).astype(np.int64) + start[:, None]
        high = np.ceil((at + 1) * cell[:, None]).astype(np.int64) + start[:, None]
        end = length if closed else length - 1
        edges.append((np.clip(low, 0, end), np.clip(high, 0, end)))
    k, row, column = (a.ravel() for a in np.indices((len(found.rois), found.rows, found.columns)))
    top, height = edges[0][0][k, row], np.maximum(edges[0][1] - edges[0][0], 0)[k, row]
    left, width = edges[1][0][k, column], np.maximum(edges[1][1] - edges[1][0], 0)[k, column]
    counts = height * width
    bag, within = _spread(counts)
    return Bags(counts, top[bag] + within // width[bag], left[bag] + within % width[bag], None)


def gathered(input: Tensor, found: Regions, bags: Bags, mode: str, own_channels: bool = False) -> Tensor:
    """The cells of the regions: (K, C, rows, columns).

    Args:
        input: pictures, (N, C, height, width).
        found: the regions.
        bags: what each cell is made of.
        mode: `sum`, `mean` or `max`.
        own_channels: whether each cell has channels of its own.
    """
    _, _, height, width = input.shape
    rois, rows, columns = found
    bag = np.repeat(np.arange(len(bags.counts)), bags.counts)
    cells = rows * columns
    plane = rois[:, 0].astype(np.int64)[bag // cells]
    if own_channels:
        channels = channels_of_cells(input, found)
        parts = input.reshape(-1, channels, rows, columns, height, width).permute(0, 2, 3, 4, 5, 1)
        plane = plane * cells + bag % cells
    else:
        channels = input.size(1)
        parts = input.permute(0, 2, 3, 1)
    index = (plane * height + bags.y) * width + bags.x
    offsets = np.cumsum(bags.counts) - bags.counts
    there = {"device": input.device}
    weights = None if bags.weights is None else vistorch.from_numpy(bags.weights).to(input)
    if not len(bags.counts):
        return input.new_zeros((0, channels, rows, columns))
    found_rows = F.embedding_bag(
        vistorch.from_numpy(index).to(**there),
        parts.reshape(-1, channels),
        vistorch.from_numpy(offsets).to(**there),
        mode=mode,
        per_sample_weights=weights,
    )
    return found_rows.reshape(-1, rows, columns, channels).permute(0, 3, 1, 2).contiguous()
