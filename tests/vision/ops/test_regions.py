"""What torchvision has in C++, beside plain loops over the pixels; gradients beside differences."""

import math

import numpy as np
import pytest

import vistorch
from vistorch.vision import ops

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 1, (2, 12, 9, 11))
FIRST = RNG.uniform(-3, 8, (9, 2))
ROIS = np.concatenate([RNG.integers(0, 2, (9, 1)), FIRST, FIRST + RNG.uniform(0.1, 9, (9, 2))], 1)


def point(plane, y, x):
    """Between the pixels; nothing more than a pixel outside."""
    h, w = plane.shape
    if not (-1 <= y <= h and -1 <= x <= w):
        return 0.0
    y, x = max(y, 0), max(x, 0)
    y0, x0 = min(int(y), h - 1), min(int(x), w - 1)
    y1, x1 = min(y0 + 1, h - 1), min(x0 + 1, w - 1)
    a, b = (0 if y0 == y1 else y - y0), (0 if x0 == x1 else x - x0)
    return (
        (1 - a) * (1 - b) * plane[y0, x0]
        + (1 - a) * b * plane[y0, x1]
        + a * (1 - b) * plane[y1, x0]
        + a * b * plane[y1, x1]
    )


def aligned(size, scale, points, shift, least, own):
    rows, columns = size
    channels = X.shape[1] // (rows * columns) if own else X.shape[1]
    out = np.zeros((len(ROIS), channels, rows, columns))
    for k, c, i, j in np.ndindex(out.shape):
        picture, x1, y1, x2, y2 = ROIS[k]
        plane = X[int(picture), (c * rows + i) * columns + j if own else c]
        (y1, x1), (y2, x2) = (np.array([y1, x1]) * scale - shift), (np.array([y2, x2]) * scale - shift)
        h, w = max(y2 - y1, least), max(x2 - x1, least)
        ny = points if points > 0 else math.ceil(h / rows)
        nx = points if points > 0 else math.ceil(w / columns)
        out[k, c, i, j] = np.mean(
            [
                point(plane, y1 + (i + (a + 0.5) / ny) * h / rows, x1 + (j + (b + 0.5) / nx) * w / columns)
                for a in range(ny)
                for b in range(nx)
            ]
        )
    return out


def rounded(v):
    return int(math.floor(abs(v) + 0.5) * (1 if v > 0 else -1))


def pooled(size, scale, own):
    rows, columns = size
    channels = X.shape[1] // (rows * columns) if own else X.shape[1]
    out = np.zeros((len(ROIS), channels, rows, columns))
    for k, c, i, j in np.ndindex(out.shape):
        plane = X[int(ROIS[k, 0]), (c * rows + i) * columns + j if own else c]
        x1, y1, x2, y2 = (rounded(v * scale) for v in ROIS[k, 1:])
        ends = []
        for first, last, at, count, length in ((y1, y2, i, rows, 9), (x1, x2, j, columns, 11)):
            cell = max(last - first + (not own), 1) / count
            top = length - 1 if own else length
            ends.append(
                slice(
                    min(max(math.floor(at * cell) + first, 0), top),
                    min(max(math.ceil((at + 1) * cell) + first, 0), top),
                )
            )
        part = plane[tuple(ends)]
        out[k, c, i, j] = 0 if part.size == 0 else part.mean() if own else part.max()
    return out


WAYS = {
    "align": (lambda x, r: ops.roi_align(x, r, (3, 2), 0.9), lambda: aligned((3, 2), 0.9, -1, 0, 1, False)),
    "points": (
        lambda x, r: ops.roi_align(x, r, (2, 3), 0.8, 2),
        lambda: aligned((2, 3), 0.8, 2, 0, 1, False),
    ),
    "half": (
        lambda x, r: ops.roi_align(x, r, (3, 2), 1.1, -1, True),
        lambda: aligned((3, 2), 1.1, -1, 0.5, -99, False),
    ),
    "own": (
        lambda x, r: ops.ps_roi_align(x, r, (3, 2), 0.9, 2),
        lambda: aligned((3, 2), 0.9, 2, 0.5, -99, True),
    ),
    "own all": (
        lambda x, r: ops.ps_roi_align(x, r, 2, 0.9),
        lambda: aligned((2, 2), 0.9, -1, 0.5, -99, True),
    ),
    "pool": (lambda x, r: ops.roi_pool(x, r, (3, 4), 0.8), lambda: pooled((3, 4), 0.8, False)),
    "own pool": (lambda x, r: ops.ps_roi_pool(x, r, (3, 2), 0.8), lambda: pooled((3, 2), 0.8, True)),
}


@pytest.mark.parametrize("way", WAYS)
def test_regions(way):
    ours, loops = WAYS[way]
    x = vistorch.tensor(X, requires_grad=True)
    out = ours(x, vistorch.tensor(ROIS))
    expected = loops()
    np.testing.assert_allclose(out.detach().numpy(), expected, rtol=0, atol=1e-12)
    assert np.abs(expected).max() > 0.1
    # all are sums or maxima of pixels: the gradient along the picture itself is the result
    out.sum().backward()
    np.testing.assert_allclose((x.grad * x).sum().item(), expected.sum(), rtol=1e-10)


def test_no_regions_and_lists_of_boxes():
    x = vistorch.tensor(X)
    assert ops.roi_align(x, vistorch.zeros(0, 5, dtype=vistorch.float64), 2).shape == (0, 12, 2, 2)
    assert ops.roi_pool(x, vistorch.zeros(0, 5, dtype=vistorch.float64), (2, 3)).shape == (0, 12, 2, 3)
    order = np.argsort(ROIS[:, 0], kind="stable")
    lists = [vistorch.tensor(ROIS[ROIS[:, 0] == i][:, 1:]) for i in (0, 1)]
    ours, _ = WAYS["align"]
    assert (ours(x, lists) == ours(x, vistorch.tensor(ROIS[order]))).all()
    pool = ops.RoIAlign((3, 2), 0.9, -1)
    assert repr(pool) == "RoIAlign(output_size=(3, 2), spatial_scale=0.9, sampling_ratio=-1, aligned=False)"
    assert (pool(x, lists) == ours(x, lists)).all()


def kept(boxes, scores, threshold):
    order, found = sorted(range(len(scores)), key=lambda i: -scores[i]), []
    for i in order:
        for j in found:
            w = max(0, min(boxes[i][2], boxes[j][2]) - max(boxes[i][0], boxes[j][0]))
            h = max(0, min(boxes[i][3], boxes[j][3]) - max(boxes[i][1], boxes[j][1]))
            area = sum((b[2] - b[0]) * (b[3] - b[1]) for b in (boxes[i], boxes[j]))
            if w * h / (area - w * h) > threshold:
                break
        else:
            found.append(i)
    return found


@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.4, 0.8])
def test_nms(threshold):
    first = RNG.uniform(0, 20, (70, 2))
    boxes = np.concatenate([first, first + RNG.uniform(0.1, 15, (70, 2))], 1)
    for scores in (RNG.uniform(0, 1, 70), np.arange(70.0) % 4):  # of equal ones the first is better
        found = ops.nms(vistorch.tensor(boxes), vistorch.tensor(scores), threshold)
        assert found.tolist() == kept(boxes, scores, threshold) and found.dtype == vistorch.int64
        kinds = np.arange(70) % 3
        alone = [
            i
            for k in range(3)
            for i in np.flatnonzero(kinds == k)[kept(boxes[kinds == k], scores[kinds == k], threshold)]
        ]
        found = ops.batched_nms(
            vistorch.tensor(boxes), vistorch.tensor(scores), vistorch.tensor(kinds), threshold
        )
        assert sorted(found.tolist()) == sorted(alone)
    assert ops.nms(vistorch.zeros(0, 4), vistorch.zeros(0), 0.5).tolist() == []


def test_nms_of_many_categories_apart():
    first = RNG.uniform(0, 50, (1100, 2))
    boxes = np.concatenate([first, first + RNG.uniform(1, 20, (1100, 2))], 1)
    scores, kinds = RNG.uniform(0, 1, 1100), np.arange(1100) % 5
    args = vistorch.tensor(boxes), vistorch.tensor(scores), vistorch.tensor(kinds), 0.3
    apart = args[0] + (args[2] * 100)[:, None]
    assert ops.batched_nms(*args).tolist() == ops.nms(apart, args[1], 0.3).tolist()


def test_deformed():
    x, w, b = RNG.normal(size=(2, 4, 7, 8)), RNG.normal(size=(6, 2, 3, 2)), RNG.normal(size=6)
    offset, mask = RNG.normal(size=(2, 24, 4, 4)) * 3, RNG.uniform(size=(2, 12, 4, 4))
    given = [vistorch.tensor(a, requires_grad=True) for a in (x, offset, w, b, mask)]
    how = {"stride": (2, 2), "padding": (1, 1), "dilation": (1, 2)}
    out = ops.deform_conv2d(*given[:4], mask=given[4], **how)
    expected = np.zeros((2, 6, 4, 4))
    padded = np.pad(
        x, ((0, 0), (0, 0), (1, 1), (1, 1))
    )  # a point up to a pixel outside is part of the picture
    for n, c, i, j in np.ndindex(expected.shape):
        total = b[c]
        for p, (u, v, channel) in enumerate(np.ndindex(3, 2, 2)):
            p, source = u * 2 + v, c // 3 * 2 + channel
            group = source // 2
            y = i * 2 - 1 + u + offset[n, group * 12 + 2 * p, i, j]
            z = j * 2 - 1 + v * 2 + offset[n, group * 12 + 2 * p + 1, i, j]
            seen = point(padded[n, source], y + 1, z + 1) if -1 < y < 7 and -1 < z < 8 else 0.0
            total += seen * mask[n, group * 6 + p, i, j] * w[c, channel, u, v]
        expected[n, c, i, j] = total
    np.testing.assert_allclose(out.detach().numpy(), expected, atol=1e-12)
    small = [vistorch.tensor(a, requires_grad=True) for a in (x[:1, :2, :4, :4], w[:2, :, :2, :2])]
    moved = vistorch.tensor(RNG.normal(size=(1, 8, 3, 3)), requires_grad=True)
    assert vistorch.autograd.gradcheck(lambda x, w, o: ops.deform_conv2d(x, o, w), (*small, moved))


def test_deformed_by_nothing_is_a_convolution():
    x, w = vistorch.tensor(X), vistorch.tensor(RNG.normal(size=(4, 6, 3, 3)))
    zero = vistorch.zeros(2, 18, 9, 11, dtype=vistorch.float64)
    expected = vistorch.nn.functional.conv2d(x, w, padding=1, groups=2)
    assert vistorch.allclose(ops.deform_conv2d(x, zero, w, padding=1), expected)
