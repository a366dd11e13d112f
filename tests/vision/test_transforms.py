"""Transforms against Pillow's own operations, closed forms, and torch's functions by the same formulas."""

import math
import random

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageOps

import vistorch
from tests.story import torch
from vistorch.vision import transforms as T
from vistorch.vision.transforms import functional as F

ARRAY = np.random.default_rng(0).integers(0, 256, (33, 40, 3)).astype(np.uint8)
IMAGE = Image.fromarray(ARRAY)
BYTES = F.pil_to_tensor(IMAGE)
Mode = T.InterpolationMode


def same_on_both(name, *args, most=0, **options):
    """What both kinds of images give, as far apart as `most` at most."""
    act = getattr(F, name)
    pillow = np.asarray(act(IMAGE, *args, **options)).astype(int)
    tensor = act(BYTES, *args, **options)
    assert tensor.dtype == vistorch.uint8
    ours = tensor.permute(1, 2, 0).numpy().astype(int)
    assert ours.reshape(pillow.shape).shape == pillow.shape
    assert abs(ours.reshape(pillow.shape) - pillow).max() <= most


@pytest.mark.parametrize(
    "name, args, options, most",
    [
        ("pad", ((1, 2, 3, 4), 7), {}, 0),
        *[("pad", (5, 0, mode), {}, 0) for mode in ("edge", "reflect", "symmetric")],
        ("crop", (-2, 30, 10, 20), {}, 0),
        ("center_crop", (50,), {}, 0),
        ("hflip", (), {}, 0),
        ("vflip", (), {}, 0),
        ("rgb_to_grayscale", (3,), {}, 1),  # tensors round down, by torchvision's formula
        ("adjust_brightness", (1.5,), {}, 0),
        ("adjust_contrast", (0.4,), {}, 1),
        ("adjust_saturation", (1.7,), {}, 1),
        ("adjust_gamma", (2.0,), {}, 0),
        ("invert", (), {}, 0),
        ("posterize", (3,), {}, 0),
        ("solarize", (100,), {}, 0),
        ("adjust_sharpness", (2.0,), {}, 0),
        ("autocontrast", (), {}, 0),
        ("equalize", (), {}, 0),
        ("gaussian_blur", (5,), {}, 0),
        ("resize", (20,), {}, 1),
        ("rotate", (30.0,), {}, 0),
        ("rotate", (30.0,), {"expand": True}, 0),
        ("affine", (20.0, [3, 4], 1.2, [5.0, 10.0]), {"center": [3, 4], "fill": 3}, 0),
        (
            "perspective",
            ([[0, 0], [39, 0], [39, 32], [0, 32]], [[3, 3], [35, 1], [37, 30], [1, 31]], Mode.NEAREST),
            {},
            0,
        ),
    ],
)
def test_tensors_and_pillow_agree(name, args, options, most):
    same_on_both(name, *args, most=most, **options)


def test_hue_goes_around_the_wheel():
    x = vistorch.rand(3, 9, 9)
    np.testing.assert_allclose(F.adjust_hue(x, 0.0).numpy(), x.numpy(), atol=1e-6)
    turned = F.adjust_hue(F.adjust_hue(x, 1 / 3), 1 / 6)
    np.testing.assert_allclose(turned.numpy(), F.adjust_hue(x, 0.5).numpy(), atol=1e-5)
    red = vistorch.tensor([1.0, 0.0, 0.0]).view(3, 1, 1)
    np.testing.assert_allclose(F.adjust_hue(red, 1 / 3).flatten().numpy(), [0, 1, 0], atol=1e-6)


def test_pillow_does_its_own_work():
    assert F.adjust_contrast(IMAGE, 1.5) == ImageEnhance.Contrast(IMAGE).enhance(1.5)
    assert F.posterize(IMAGE, 2) == ImageOps.posterize(IMAGE, 2)
    assert F.resize(IMAGE, (7, 9), Mode.LANCZOS) == IMAGE.resize((9, 7), Image.Resampling.LANCZOS)
    assert F.rotate(IMAGE, 12, Mode.BILINEAR) == IMAGE.rotate(12, Image.Resampling.BILINEAR)


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("antialias", [False, True])
def test_resize_by_torch(mode, antialias):
    smooth = {} if mode == "nearest" else {"antialias": antialias, "align_corners": False}
    given = torch.tensor(ARRAY).permute(2, 0, 1)[None].float()
    theirs = torch.nn.functional.interpolate(given, size=[13, 15], mode=mode, **smooth)[0]
    ours = F.resize(BYTES.float(), [13, 15], Mode(mode), antialias=antialias)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-3)


def test_sizes():
    for size, most, expected in [
        (20, None, (20, 24)),
        (20, 22, (18, 22)),
        ([8], None, (8, 9)),
        ((5, 6), None, (5, 6)),
    ]:
        assert F.resize(BYTES, size, max_size=most).shape[1:] == expected
        assert F.resize(IMAGE, size, max_size=most).size == expected[::-1]
    assert F.resize(IMAGE, 33) is IMAGE


def test_to_tensor_is_torch_s_division():
    theirs = torch.from_numpy(ARRAY.transpose(2, 0, 1).copy()).float().div(255)
    for given in (ARRAY, IMAGE):
        out = T.ToTensor()(given)
        assert out.is_contiguous() and out.dtype == vistorch.float32
        assert (out.numpy() == theirs.numpy()).all()
    assert F.to_tensor(Image.new("1", (2, 1), 1)).tolist() == [[[1.0, 1.0]]]
    assert F.to_tensor(np.ones((2, 3))).dtype == vistorch.float64
    assert F.to_tensor(Image.new("I", (2, 1), 70000)).tolist() == [[[70000, 70000]]]


@pytest.mark.parametrize("mode", ["1", "L", "RGB", "RGBA", "CMYK", "HSV", "YCbCr", "LA", "F", "I"])
def test_there_and_back(mode):
    image = IMAGE.convert("L").convert(mode) if mode in ("1", "LA", "F", "I") else IMAGE.convert(mode)
    back = F.to_pil_image(
        F.pil_to_tensor(image).to(vistorch.uint8) if mode == "1" else F.pil_to_tensor(image),
        None if mode in ("1", "L", "I", "LA") else mode,
    )
    assert mode == "1" or back == image


def test_normalize_by_torch_and_its_traps():
    x = F.to_tensor(ARRAY)
    mean, std = (0.1, 0.2, 0.3), (0.5, 0.6, 0.7)
    t = torch.tensor(x.numpy())
    theirs = t.clone().sub_(torch.tensor(mean).view(3, 1, 1)).div_(torch.tensor(std).view(3, 1, 1))
    before = x.clone()
    with vistorch.inference_mode():
        first = T.Normalize(mean, std)(x)
    assert (first.numpy() == theirs.numpy()).all() and bool((x == before).all())
    x.requires_grad_()
    F.normalize(x, mean, std).sum().backward()
    np.testing.assert_allclose(x.grad[:, 0, 0].numpy(), 1 / np.array(std), rtol=1e-6)
    y = before.clone()
    assert F.normalize(y, vistorch.tensor(mean), vistorch.tensor(std), inplace=True) is y
    assert (y.numpy() == theirs.numpy()).all()
    for wrong, kind, text in [
        ((y, [0], [0.0]), ValueError, "std evaluated to zero"),
        ((BYTES, [0], [1]), TypeError, "Input tensor should be a float tensor"),
        ((y[0], [0], [1]), ValueError, "Expected tensor to be a tensor image"),
        ((IMAGE, [0], [1]), TypeError, "img should be Tensor Image"),
    ]:
        with pytest.raises(kind, match=text):
            F.normalize(*wrong)


def seeded(act):
    torch.manual_seed(5)
    vistorch.manual_seed(5)
    random.seed(5)
    return act()


def test_what_is_drawn_is_what_torch_draws_in_that_order():
    def number(low, high):
        return torch.empty(1).uniform_(low, high).item()

    def whole(low, high):
        return torch.randint(low, high, size=(1,)).item()

    assert seeded(lambda: T.RandomCrop.get_params(BYTES, (7, 9))) == seeded(
        lambda: (whole(0, 27), whole(0, 32), 7, 9)
    )

    def part():
        area = 33 * 40 * number(0.1, 0.4)
        aspect = math.exp(number(*torch.log(torch.tensor((0.7, 1.3))).tolist()))
        w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        return whole(0, 34 - h), whole(0, 41 - w), h, w

    assert seeded(lambda: T.RandomResizedCrop.get_params(BYTES, (0.1, 0.4), (0.7, 1.3))) == seeded(part)
    order, *factors = seeded(lambda: T.ColorJitter.get_params((0.5, 1.5), None, (0.2, 1.2), (-0.1, 0.1)))
    expected = seeded(
        lambda: (torch.randperm(4).tolist(), number(0.5, 1.5), number(0.2, 1.2), number(-0.1, 0.1))
    )
    assert (order.tolist(), factors[0], factors[2], factors[3], factors[1]) == (*expected, None)
    drawn = seeded(
        lambda: T.RandomAffine.get_params([-5, 5], (0.3, 0.2), (0.8, 1.2), [-3, 3, -4, 4], (40, 33))
    )
    assert drawn == seeded(
        lambda: (
            number(-5, 5),
            (round(number(-12, 12)), round(number(-float(0.2 * 33), float(0.2 * 33)))),
            number(0.8, 1.2),
            (number(-3, 3), number(-4, 4)),
        )
    )
    flips = seeded(lambda: [T.RandomHorizontalFlip()(BYTES) is not BYTES for _ in range(20)])
    assert flips == seeded(lambda: [torch.rand(1).item() < 0.5 for _ in range(20)])


def test_random_transforms_keep_shape_and_kind():
    many = [
        T.RandomCrop(33, padding=4, pad_if_needed=True),
        T.RandomResizedCrop(20),
        T.RandomVerticalFlip(1),
        T.ColorJitter(0.4, 0.4, 0.4, 0.1),
        T.RandomGrayscale(1.0),
        T.RandomRotation(10, fill=3),
        T.RandomAffine(10, (0.1, 0.1), (0.9, 1.1), 5),
        T.RandomPerspective(p=1.0),
        T.GaussianBlur(3),
        T.RandomInvert(1),
        T.RandomPosterize(3, 1),
        T.RandomSolarize(9, 1),
        T.RandomAdjustSharpness(2, 1),
        T.RandomAutocontrast(1),
        T.RandomEqualize(1),
        T.RandomApply([T.Grayscale(3)]),
        T.RandomChoice([T.CenterCrop(9), T.Pad(1)], p=[1, 0]),
        T.RandomOrder([T.Grayscale(3), T.Resize(12)]),
        T.Lambda(lambda x: x),
    ]
    for transform in many:
        for kind in (IMAGE, BYTES):
            out = seeded(lambda transform=transform, kind=kind: transform(kind))
            assert F.get_dimensions(out)[0] == 3 and isinstance(out, Image.Image) == (kind is IMAGE)
        sizes = {tuple(seeded(lambda t=transform, k=k: F.get_image_size(t(k)))) for k in (IMAGE, BYTES)}
        assert len(sizes) == 1, transform


def test_crops_of_corners():
    five = T.FiveCrop(10)(BYTES)
    assert [x.shape[1:] for x in five] == [(10, 10)] * 5
    assert bool((five[3] == BYTES[:, -10:, -10:]).all())
    assert bool((T.TenCrop(10, True)(BYTES)[5] == BYTES.flip(-2)[:, :10, :10]).all())
    with pytest.raises(ValueError, match="bigger than input size"):
        F.five_crop(BYTES, 50)


def test_erasing_and_whitening():
    x = vistorch.ones(3, 20, 20)
    out = seeded(lambda: T.RandomErasing(1.0, value=(5, 6, 7))(x))
    assert set(out[0].flatten().tolist()) == {1.0, 5.0} and set(out[2].flatten().tolist()) == {1.0, 7.0}
    assert bool((x == 1).all())
    assert T.RandomErasing(0.0)(x) is x
    assert seeded(lambda: T.RandomErasing(1.0, value="random", inplace=True)(x)) is x
    matrix, mean = vistorch.diag(vistorch.arange(12.0)), vistorch.ones(12)
    y = T.LinearTransformation(matrix, mean)(vistorch.full((2, 3, 2, 2), 2.0))
    assert y[1].flatten().tolist() == list(range(12))


def test_texts():
    for transform, text in [
        (T.Resize(3), "Resize(size=3, interpolation=bilinear, max_size=None, antialias=True)"),
        (T.CenterCrop(3), "CenterCrop(size=(3, 3))"),
        (T.RandomCrop(4, 1), "RandomCrop(size=(4, 4), padding=1)"),
        (
            T.RandomResizedCrop(4),
            "RandomResizedCrop(size=(4, 4), scale=(0.08, 1.0), ratio=(0.75, 1.3333), interpolation=bilinear, "
            "antialias=True)",
        ),
        (T.Normalize((0.5,), (1,)), "Normalize(mean=(0.5,), std=(1,))"),
        (T.RandomHorizontalFlip(), "RandomHorizontalFlip(p=0.5)"),
        (T.RandomPosterize(2), "RandomPosterize(bits=2,p=0.5)"),
        (T.ConvertImageDtype(vistorch.uint8), "ConvertImageDtype()"),
        (T.ToPILImage("L"), "ToPILImage(mode=L)"),
        (
            T.RandomRotation(5),
            "RandomRotation(degrees=[-5.0, 5.0], interpolation=nearest, expand=False, fill=0)",
        ),
        (T.RandomAffine(5, scale=(1, 2)), "RandomAffine(degrees=[-5.0, 5.0], scale=(1, 2))"),
        (T.ColorJitter(0.2), "ColorJitter(brightness=(0.8, 1.2), contrast=None, saturation=None, hue=None)"),
        (T.RandomApply([T.ToTensor()]), "RandomApply(\n    p=0.5\n    ToTensor()\n)"),
        (T.Compose([T.ToTensor()]), "Compose(\n    ToTensor()\n)"),
        (
            T.RandomErasing(),
            "RandomErasing(p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False)",
        ),
    ]:
        assert repr(transform) == text


@pytest.mark.parametrize(
    "act, kind, text",
    [
        (lambda: F.to_tensor(3), TypeError, "pic should be PIL Image or ndarray. Got <class 'int'>"),
        (lambda: F.to_tensor(np.ones(3)), ValueError, "pic should be 2/3 dimensional. Got 1 dimensions."),
        (
            lambda: F.to_pil_image(vistorch.ones(5, 2, 2)),
            ValueError,
            "pic should not have > 4 channels. Got 5",
        ),
        (
            lambda: F.to_pil_image(BYTES, "L"),
            ValueError,
            r"Only modes \['RGB', 'YCbCr', 'HSV'\] are supported",
        ),
        (lambda: T.RandomCrop(50)(BYTES), ValueError, r"Required crop size \(50, 50\) is larger than input"),
        (lambda: T.Resize("x" * 3), ValueError, "If size is a sequence, it should have 1 or 2 values"),
        (
            lambda: F.resize(BYTES, 5, "bilinear"),
            TypeError,
            "Argument interpolation should be a Interpolation",
        ),
        (
            lambda: F.resize(BYTES, 9, max_size=9),
            ValueError,
            "must be strictly greater than the requested size",
        ),
        (lambda: F.pad(BYTES, (1, 2, 3)), ValueError, "1, 2, or 4 element tuple, not a 3 element tuple"),
        (lambda: T.ColorJitter(hue=0.6), ValueError, r"hue values should be between \(-0.5, 0.5\)"),
        (lambda: T.ColorJitter(-1), ValueError, "If brightness is a single number, it must be non negative."),
        (lambda: F.adjust_hue(BYTES, 1), ValueError, r"hue_factor \(1\) is not in \[-0.5, 0.5\]"),
        (lambda: T.GaussianBlur(4), ValueError, "Kernel size value should be an odd and positive number."),
        (lambda: T.RandomRotation(-1), ValueError, "If degrees is a single number, it must be positive."),
        (lambda: T.RandomErasing(2), ValueError, "Random erasing probability should be between 0 and 1"),
        (lambda: F.posterize(BYTES.float(), 2), TypeError, "Only torch.uint8 image tensors are supported"),
        (
            lambda: F.convert_image_dtype(vistorch.ones(1, 1, 1), vistorch.int32),
            RuntimeError,
            "cannot be performed safely",
        ),
    ],
)
def test_errors(act, kind, text):
    with pytest.raises(kind, match=text):
        act()


def test_types_there_and_back():
    for kind in (vistorch.uint8, vistorch.int16, vistorch.int32):
        top = vistorch.iinfo(kind).max
        x = vistorch.tensor([[[0, top // 2, top]]], dtype=kind)
        out = F.convert_image_dtype(x, vistorch.float64)
        assert out.flatten().tolist() == [0.0, top // 2 / top, 1.0]
    x = vistorch.arange(256).to(vistorch.uint8).view(1, 16, 16)
    for kind in (vistorch.float32, vistorch.int16):
        assert bool((F.convert_image_dtype(F.convert_image_dtype(x, kind), vistorch.uint8) == x).all())
