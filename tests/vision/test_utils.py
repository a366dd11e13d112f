"""Grids, files and boxes, against what torchvision's rules give when written out with torch."""

import io

import numpy as np
import pytest

import vistorch
from vistorch.vision.utils import draw_bounding_boxes, make_grid, save_image

torch = pytest.importorskip("torch", reason="torch is the reference")


def images(*shape, seed=0):
    return np.random.default_rng(seed).normal(0.4, 0.5, shape).astype(np.float32)


def laid_out(array, nrow=8, padding=2, normalize=False, value_range=None, scale_each=False, pad_value=0.0):
    """The grid of a batch, pixel by pixel."""
    batch = torch.from_numpy(array).clone()
    batch = batch.reshape((1,) * (4 - batch.dim()) + tuple(batch.shape)) if batch.dim() < 4 else batch
    batch = batch.expand(-1, 3, -1, -1).clone() if batch.shape[1] == 1 else batch
    if normalize:
        for part in batch if scale_each else [batch]:
            low, high = value_range or (part.min().item(), part.max().item())
            part.copy_((part.clamp(low, high) - low) / max(high - low, 1e-5))
    count, channels, height, width = batch.shape
    if count == 1:
        return batch[0].numpy()
    columns = min(nrow, count)
    rows = (count + columns - 1) // columns
    grid = torch.full(
        (channels, rows * (height + padding) + padding, columns * (width + padding) + padding),
        float(pad_value),
    )
    for k in range(count):
        for i in range(height):
            top, left = (
                (k // columns) * (height + padding) + padding,
                (k % columns) * (width + padding) + padding,
            )
            grid[:, top + i, left : left + width] = batch[k, :, i]
    return grid.numpy()


@pytest.mark.parametrize(
    "shape",
    [(7, 3, 4, 5), (9, 1, 3, 3), (1, 3, 4, 4), (1, 1, 4, 4), (3, 4, 4), (1, 4, 4), (4, 5), (2, 5, 3, 3)],
)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"nrow": 3},
        {"nrow": 2, "padding": 0},
        {"padding": 5, "pad_value": 0.7},
        {"normalize": True},
        {"normalize": True, "scale_each": True},
        {"normalize": True, "value_range": (0.0, 0.5)},
        {"normalize": True, "scale_each": True, "value_range": (-1, 1), "pad_value": 1},
    ],
)
def test_make_grid(shape, options):
    array = images(*shape)
    given = vistorch.from_numpy(array.copy())
    found = make_grid(given, **options)
    np.testing.assert_allclose(found.numpy(), laid_out(array, **options), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(given.numpy(), array, err_msg="what is given is not changed")


def test_make_grid_of_a_list_and_of_bytes():
    array = images(4, 3, 5, 5)
    found = make_grid([vistorch.from_numpy(image) for image in array], nrow=2)
    np.testing.assert_array_equal(found.numpy(), laid_out(array, nrow=2))
    bytes_ = (array * 100).astype(np.int32).astype(np.uint8)
    found = make_grid(vistorch.from_numpy(bytes_), pad_value=255)
    assert found.dtype is vistorch.uint8 and found[0, 0, 0].item() == 255
    np.testing.assert_array_equal(found[:, 2:7, 2:7].numpy(), bytes_[0])
    grown = make_grid(vistorch.ones(2, 3, 2, 2, requires_grad=True))
    assert not grown.requires_grad
    flat = make_grid(vistorch.full((2, 3, 2, 2), 7.0), normalize=True)
    assert flat.abs().max().item() == 0, "nothing to stretch is no division by zero"


def test_make_grid_refuses():
    with pytest.raises(TypeError, match=r"^tensor or list of tensors expected, got <class 'numpy.ndarray'>$"):
        make_grid(np.zeros((2, 3, 4, 4)))
    with pytest.raises(
        TypeError, match=r"^tensor or list of tensors expected, got a list containing <class 'int'>$"
    ):
        make_grid([vistorch.zeros(3, 2, 2), 1])
    with pytest.raises(
        TypeError, match=r"^value_range has to be a tuple \(min, max\) if specified. min and max are numbers$"
    ):
        make_grid(vistorch.zeros(2, 3, 4, 4), normalize=True, value_range=[0, 1])


def test_save_image(tmp_path):
    from PIL import Image

    array = images(5, 3, 6, 7)
    save_image(vistorch.from_numpy(array), tmp_path / "a.png", nrow=3)
    grid = torch.from_numpy(laid_out(array, nrow=3))
    expected = grid.mul(255).add(0.5).clamp(0, 255).permute(1, 2, 0).to(torch.uint8).numpy()
    with Image.open(tmp_path / "a.png") as image:
        np.testing.assert_array_equal(np.asarray(image), expected)
    stream = io.BytesIO()
    save_image(vistorch.from_numpy(array), str(tmp_path / "b.png"), nrow=3)
    save_image(vistorch.from_numpy(array), stream, format="png", nrow=3)
    assert (tmp_path / "b.png").read_bytes() == stream.getvalue()


def test_boxes():
    image = vistorch.full((3, 20, 30), 90, dtype=vistorch.uint8)
    boxes = vistorch.tensor([[2, 3, 12, 10], [14.9, 5.2, 25, 18]])
    drawn = draw_bounding_boxes(image, boxes, colors=["red", (0, 255, 0)])
    assert drawn.shape == image.shape and drawn.dtype is vistorch.uint8 and (image == 90).all()
    expected = np.full((3, 20, 30), 90, np.uint8)
    for (left, top, right, bottom), color in (((2, 3, 12, 10), (255, 0, 0)), ((14, 5, 25, 18), (0, 255, 0))):
        ring = np.zeros((20, 30), bool)
        ring[top : bottom + 1, left : right + 1] = True
        ring[top + 1 : bottom, left + 1 : right] = False
        expected[:, ring] = np.array(color, np.uint8)[:, None]
    np.testing.assert_array_equal(drawn.numpy(), expected)
    palette = draw_bounding_boxes(image, boxes)
    assert palette[:, 3, 2].tolist() == [0, 0, 0] and palette[:, 5, 14].tolist() == [
        (2**25 - 1) % 255,
        (2**15 - 1) % 255,
        (2**21 - 1) % 255,
    ]
    wide = draw_bounding_boxes(image, boxes[:1], colors="#00FF00", width=3)
    assert wide[:, 5, 4].tolist() == [0, 255, 0] and wide[:, 6, 5].tolist() == [90, 90, 90]


def test_boxes_filled_labelled_grey_and_float():
    image = vistorch.full((1, 40, 60), 100, dtype=vistorch.uint8)
    boxes = vistorch.tensor([[5, 5, 50, 35]])
    filled = draw_bounding_boxes(image, boxes, colors="red", fill=True)
    assert filled.shape == (3, 40, 60) and filled[0, 20, 20] > 150 and filled[1, 20, 20] < 80
    plain = draw_bounding_boxes(image, boxes, colors="red")
    written = draw_bounding_boxes(image, boxes, labels=["cat"], colors="red")
    assert (written != plain).any() and (written[:, :5] == plain[:, :5]).all()
    assert (draw_bounding_boxes(image, boxes, labels=[None], colors="red") == plain).all()
    ground = draw_bounding_boxes(
        image, boxes, ["cat"], "red", label_colors="blue", label_background_colors="white", fill_labels=True
    )
    assert (ground == 255).all(0).sum() > 50
    floating = draw_bounding_boxes(image.float() / 255, boxes, colors="red")
    np.testing.assert_array_equal((floating * 255).round().numpy(), plain.numpy())


def test_boxes_refuse():
    image, boxes = vistorch.zeros(3, 9, 9, dtype=vistorch.uint8), vistorch.tensor([[1, 1, 4, 4]])
    for arguments, error, sentence in [
        ((np.zeros((3, 9, 9)), boxes), TypeError, "^Tensor expected, got <class 'numpy.ndarray'>$"),
        ((image.int(), boxes), ValueError, "^The image dtype must be uint8 or float, got vistorch.int32$"),
        ((image[None], boxes), ValueError, "^Pass individual images, not batches$"),
        ((image[:2], boxes), ValueError, "^Only grayscale and RGB images are supported$"),
        (
            (image, boxes[:, [2, 1, 0, 3]]),
            ValueError,
            r"^Boxes need to be in \(xmin, ymin, xmax, ymax\) format",
        ),
        ((image, boxes, ["a", "b"]), ValueError, r"^Number of boxes \(1\) and labels \(2\) mismatch"),
        (
            (image, boxes, None, []),
            ValueError,
            "^Number of colors must be equal or larger than the number of objects",
        ),
        (
            (image, boxes, None, 3),
            ValueError,
            "^`colors` must be a tuple or a string, or a list thereof, but got 3.$",
        ),
    ]:
        with pytest.raises(error, match=sentence):
            draw_bounding_boxes(*arguments)
    with pytest.warns(UserWarning, match="^boxes doesn't contain any box. No box was drawn$"):
        assert draw_bounding_boxes(image, boxes[:0]) is image
    with pytest.warns(UserWarning, match="^Argument 'font_size' will be ignored since 'font' is not set.$"):
        draw_bounding_boxes(image, boxes, font_size=9)
