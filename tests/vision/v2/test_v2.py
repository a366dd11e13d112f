"""The second generation of transforms gives torchvision's numbers for the same seed, and says what it refuses."""

import copy
import inspect
import warnings

import numpy as np
import pytest

import vistorch as L
from tests.vision.v2.cases import CASES, SIZE, boxes, digest, everything, mask, picture, points
from tests.vision.v2.numbers import NUMBERS
from vistorch.vision import tv_tensors as tv
from vistorch.vision.transforms import v2
from vistorch.vision.transforms.v2 import functional as F


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_torchvisions(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        count, sum_, size = digest(L, CASES[name](L, tv, v2))
    theirs = NUMBERS[name]
    assert count == theirs[0]
    assert [sum_, size] == pytest.approx(theirs[1:], abs=1e-6 * max(theirs[2], 1))


def test_a_changed_number_is_seen():
    with_one_more = digest(L, [L.ones(5), L.tensor([0.0, 1e-3])])
    assert digest(L, [L.ones(5), L.tensor([0.0, 0.0])]) != pytest.approx(with_one_more, abs=1e-6 * 5)


def test_operations_give_plain_tensors_and_copies_do_not():
    for made in (tv.Image(picture(L)), mask(L, tv), boxes(L, tv, "XYWH"), points(L, tv)):
        assert type(made + 1) is L.Tensor and type(made[0]) is L.Tensor and type(made.flatten()) is L.Tensor
        for same in (made.clone(), made.to(L.float64), made.detach(), copy.deepcopy(made)):
            assert type(same) is type(made) and same._about() == made._about()
        assert made.requires_grad_(False) is made
        with tv.set_return_type("TVTensor"):
            assert type(made + 1) is type(made) and (made + 1)._about() == made._about()
        assert type(made + 1) is L.Tensor
    with pytest.raises(ValueError, match="return_type must be"):
        tv.set_return_type("neither")


def test_texts():
    assert repr(tv.KeyPoints([[1, 2]], canvas_size=(3, 4))) == "KeyPoints([[1, 2]], canvas_size=(3, 4))"
    assert repr(tv.Image(L.zeros(1, 1, 1))) == "Image([[[0.]]], )"
    assert repr(v2.RandomHorizontalFlip(p=0.25)) == "RandomHorizontalFlip(p=0.25)"
    assert "Resize(size=[3]" in repr(v2.Compose([v2.Resize(3), v2.Identity()]))


def test_a_sample_keeps_its_form_and_the_first_plain_tensor_is_the_picture():
    sample = {"a": [L.zeros(1, 2, 2), (L.ones(3), "text")], "b": None}
    out = v2.RandomInvert(p=1.0)(sample)
    assert out["a"][0].sum() == 4 and out["a"][1][0] is sample["a"][1][0] and out["a"][1][1] == "text"
    image, plain = v2.RandomInvert(p=1.0)(tv.Image(L.zeros(1, 2, 2)), L.zeros(1, 2, 2))
    assert image.sum() == 4 and plain.sum() == 0


def test_what_lies_in_a_picture_moves_with_it():
    """A mark in the picture, in a mask, a box and a point, all at one place, before and after."""
    rng = np.random.RandomState(0)
    for transform in (
        v2.RandomHorizontalFlip(p=1.0),
        v2.RandomVerticalFlip(p=1.0),
        v2.Pad([2, 3, 4, 5]),
        v2.RandomCrop((18, 24)),
        v2.RandomRotation((90, 90), expand=True),
        v2.RandomZoomOut(p=1.0),
    ):
        y, x = int(rng.randint(8, 12)), int(rng.randint(8, 16))
        image = L.zeros(1, *SIZE)
        image[0, y, x] = 1
        sample = {
            "image": tv.Image(image),
            "mask": tv.Mask(image[0]),
            "box": tv.BoundingBoxes([[x, y, x + 1.0, y + 1.0]], format="XYXY", canvas_size=SIZE),
            "point": tv.KeyPoints([[x, y]], canvas_size=SIZE),
        }
        out = transform(sample)
        _, row, column = (int(at) for at in out["image"].nonzero()[0])
        assert out["mask"].nonzero().tolist() == [[row, column]], transform
        assert out["box"].round().tolist() == [[column, row, column + 1, row + 1]], transform
        assert out["box"].canvas_size == out["point"].canvas_size == tuple(out["image"].shape[-2:])
        if not isinstance(
            transform, v2.RandomRotation
        ):  # points turn about the picture's corner, pixels about their middle
            assert out["point"].tolist() == [[column, row]], transform


def test_pillows_pictures():
    from PIL import Image

    array = (np.random.RandomState(0).rand(12, 16, 3) * 255).astype("u1")
    image = Image.fromarray(array)
    tensor = F.pil_to_tensor(image)
    for name, given in (
        ("horizontal_flip", {}),
        ("crop", {"top": 1, "left": 2, "height": 5, "width": 6}),
        ("center_crop", {"output_size": [4, 20]}),
        ("pad", {"padding": [1, 2], "fill": 3}),
        ("invert", {}),
        ("permute_channels", {"permutation": [2, 1, 0]}),
        ("erase", {"i": 1, "j": 1, "h": 2, "w": 2, "v": 0}),
        ("gaussian_blur", {"kernel_size": [3, 3]}),
        ("rotate", {"angle": 180}),
        ("posterize", {"bits": 2}),
    ):
        functional = getattr(F, name)
        assert (F.pil_to_tensor(functional(image, **given)) == functional(tensor, **given)).all(), name
    for transform in (
        v2.AutoAugment(),
        v2.AugMix(),
        v2.RandomPerspective(p=1.0),
        v2.ElasticTransform(sigma=1.0),
        v2.Resize(5),
    ):
        assert isinstance(transform(image), Image.Image)
    with pytest.raises(TypeError, match="does not support PIL images"):
        v2.Normalize([0.5], [0.5])(image)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: v2.Compose([]), ValueError, "at least one transform"),
        (lambda: v2.RandomHorizontalFlip(p=2.0), ValueError, "interval"),
        (lambda: v2.Resize(None), ValueError, "max_size must be an integer"),
        (lambda: F.resize("text", [2]), TypeError, "supports inputs of type"),
        (lambda: F.convert_bounding_box_format(L.zeros(1, 4), new_format="XYWH"), ValueError, "old_format"),
        (
            lambda: F.convert_bounding_box_format(boxes(L, tv, "XYXY"), new_format="XYWHR"),
            ValueError,
            "rotated and unrotated",
        ),
        (
            lambda: tv.BoundingBoxes([[1, 2, 3, 4, 5]], format="XYWHR", canvas_size=SIZE),
            ValueError,
            "floating",
        ),
        (lambda: v2.MixUp()(L.zeros(2, 3, 4, 4), L.tensor([0, 1])), ValueError, "num_classes"),
        (lambda: v2.JPEG(0), ValueError, "from 1 to 100"),
        (lambda: v2.RandomIoUCrop()(picture(L)), TypeError, "bounding boxes"),
        (lambda: v2.FiveCrop(3)(everything(L, tv)), TypeError, "not supported by FiveCrop"),
        (lambda: v2.AutoAugment()(everything(L, tv)), TypeError, "not supported by AutoAugment"),
        (lambda: v2.ToDtype({tv.Mask: L.int64})(picture(L)), ValueError, "No dtype was specified"),
        (lambda: v2.Transform()(picture(L)), NotImplementedError, "has no transform"),
        (lambda: F.register_kernel("resize", tv.Image), ValueError, "builtin"),
        (lambda: F.register_kernel("no such", tv.TVTensor), ValueError, "Could not find"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_kernels_go_by_their_torchvision_names():
    for name in F.__all__:
        assert callable(getattr(F, name)) or inspect.isclass(getattr(F, name))
    for kind in ("image", "video", "mask", "bounding_boxes", "keypoints"):
        for name in (
            "resize",
            "pad",
            "crop",
            "affine",
            "rotate",
            "perspective",
            "elastic",
            "horizontal_flip",
        ):
            assert callable(getattr(F, f"{name}_{kind}"))
