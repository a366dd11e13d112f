"""Calls of torchvision's second generation of transforms, the same for both libraries.

Invariant: a case is a function of (L, tv, v2): the library, its `tv_tensors` and its `transforms.v2`; it gives tensors,
or what holds them. `python -m tests.vision.v2 DIR` runs them beside the torchvision that lies in DIR and writes what
that gives into `numbers.py`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

CASES: dict[str, Callable] = {}
FORMATS = ("XYXY", "XYWH", "CXCYWH", "XYWHR", "CXCYWHR", "XYXYXYXY")
SIZE = (20, 27)
BOXES = {
    "XYXY": [[2, 3, 9, 12], [-4, 5, 8, 30], [15, 0, 27, 20], [3, 3, 3, 9]],
    "XYWH": [[2, 3, 7, 9], [-4, 5, 12, 25], [15, 0, 12, 20]],
    "CXCYWH": [[6, 8, 7, 9], [2, 15, 13, 25], [21, 10, 12, 20]],
    "XYWHR": [[8.0, 4.0, 7.0, 5.0, 20.0], [3.0, 9.0, 9.0, 6.0, -35.0], [20.0, 12.0, 9.0, 7.0, 80.0]],
    "CXCYWHR": [[8.0, 7.0, 7.0, 5.0, 20.0], [3.0, 9.0, 9.0, 6.0, -35.0], [20.0, 12.0, 9.0, 7.0, 80.0]],
    "XYXYXYXY": [[5.0, 5.0, 11.0, 3.0, 12.5, 8.0, 6.5, 10.0], [-2.0, 8.0, 5.0, 4.0, 8.0, 9.0, 1.0, 13.0]],
}


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers from 0 to 1."""
    return np.random.RandomState(seed).rand(*shape)


def picture(L: Any, kind: str = "float32", *shape: int) -> Any:
    """A picture of a type."""
    a = numbers(*(shape or (3, *SIZE)))
    return (
        L.tensor(a, dtype=getattr(L, kind))
        if "float" in kind
        else L.tensor((a * 255).astype("u1")).to(getattr(L, kind))
    )


def boxes(L: Any, tv: Any, form: str, floats: bool = True, mode: str | None = "soft") -> Any:
    """Boxes of a format."""
    data = L.tensor(BOXES[form], dtype=L.float32 if floats or "R" in form or len(form) == 8 else L.int64)
    return tv.BoundingBoxes(data, format=form, canvas_size=SIZE, clamping_mode=mode)


def points(L: Any, tv: Any) -> Any:
    """Points."""
    return tv.KeyPoints(L.tensor([[[2.0, 3.0], [25.5, 19.0]], [[-1.0, 4.0], [10.0, 30.0]]]), canvas_size=SIZE)


def mask(L: Any, tv: Any) -> Any:
    """A mask for each of two things."""
    return tv.Mask(L.tensor((numbers(2, *SIZE) > 0.5).astype("u1")))


def everything(L: Any, tv: Any, floats: bool = True) -> dict:
    """A sample with all that there can be."""
    return {
        "image": tv.Image(picture(L, "float32" if floats else "uint8")),
        "video": [tv.Video(picture(L, "uint8", 2, 3, *SIZE))],
        "mask": mask(L, tv),
        "boxes": boxes(L, tv, "XYXY"),
        "points": points(L, tv),
        "labels": L.tensor([1, 2, 3, 4]),
        "name": "a",
    }


def case(name: str) -> Callable:
    """Enter a case."""

    def enter(function: Callable) -> Callable:
        CASES[name] = function
        return function

    return enter


KINDS = ("uint8", "float32", "float64", "int16")
# Rounded to whole numbers at a tie, where the last bit of a float32 decides; or refused for this type.
LAST_BIT = ("equalize", "adjust_hue", "adjust_gamma", "resize", "resized_crop")
POINTWISE = {
    "rgb_to_grayscale": [{"num_output_channels": 3}, {}],
    "adjust_brightness": [{"brightness_factor": 1.7}, {"brightness_factor": 0.3}],
    "adjust_saturation": [{"saturation_factor": 1.7}, {"saturation_factor": 0.3}],
    "adjust_contrast": [{"contrast_factor": 1.7}, {"contrast_factor": 0.3}],
    "adjust_sharpness": [{"sharpness_factor": 1.7}, {"sharpness_factor": 0.3}],
    "adjust_hue": [{"hue_factor": 0.2}, {"hue_factor": -0.4}],
    "adjust_gamma": [{"gamma": 2.2, "gain": 0.9}, {"gamma": 0.5}],
    "posterize": [{"bits": 3}],
    "solarize": [{"threshold": 0.5}],
    "autocontrast": [{}],
    "equalize": [{}],
    "invert": [{}],
    "permute_channels": [{"permutation": [2, 0, 1]}],
    "gaussian_blur": [{"kernel_size": [5, 3], "sigma": [1.1, 0.7]}, {"kernel_size": 3}],
    "erase": [{"i": 3, "j": 4, "h": 5, "w": 6, "v": 0}],
}
FRAMES = {
    "horizontal_flip": [{}],
    "vertical_flip": [{}],
    "resize": [
        {"size": [11, 40]},
        {"size": 13, "interpolation": "bicubic"},
        {"size": None, "max_size": 40, "antialias": False},
        {"size": 9, "interpolation": "nearest-exact"},
    ],
    "pad": [{"padding": [1, 2, 3, 4], "fill": 7}, {"padding": 2}],
    "crop": [
        {"top": -2, "left": 3, "height": 30, "width": 11},
        {"top": 2, "left": 3, "height": 9, "width": 11},
    ],
    "center_crop": [{"output_size": [9, 40]}, {"output_size": 8}],
    "resized_crop": [{"top": 2, "left": 3, "height": 9, "width": 11, "size": [15, 8]}],
    "affine": [
        {"angle": 30, "translate": [2, -3], "scale": 1.2, "shear": [10.0, 5.0]},
        {
            "angle": -70,
            "translate": [0, 1],
            "scale": 0.8,
            "shear": [0.0, 0.0],
            "interpolation": "bilinear",
            "fill": 0.5,
            "center": [3, 4],
        },
    ],
    "rotate": [
        {"angle": 30, "expand": True},
        {"angle": 90},
        {"angle": -50, "interpolation": "bilinear", "fill": 1, "center": [3, 4]},
    ],
    "perspective": [
        {
            "startpoints": [[0, 0], [26, 0], [26, 19], [0, 19]],
            "endpoints": [[2, 3], [20, 1], [25, 18], [1, 15]],
        }
    ],
}


def _of_pictures(name: str, options: dict, kind: str) -> Callable:
    def call(L: Any, tv: Any, v2: Any) -> Any:
        given = dict(options)
        if name == "solarize":
            given["threshold"] = 0.5 if "float" in kind else 100
        F = getattr(v2.functional, name)
        return [F(picture(L, kind), **given), F(picture(L, kind, 2, 2, 3, *SIZE), **given)]

    return call


def _of_masks(name: str, options: dict) -> Callable:
    def call(L: Any, tv: Any, v2: Any) -> Any:
        F = getattr(v2.functional, name)
        return [
            F(mask(L, tv), **options),
            F(tv.Mask(L.tensor((numbers(*SIZE) > 0.5).astype("i4"))), **options),
        ]

    return call


def _of_boxes(name: str, options: dict, form: str, mode: str | None, floats: bool) -> Callable:
    def call(L: Any, tv: Any, v2: Any) -> Any:
        out = getattr(v2.functional, name)(boxes(L, tv, form, floats, mode), **options)
        return [out, L.tensor(out.canvas_size)]

    return call


def _of_points(name: str, options: dict) -> Callable:
    def call(L: Any, tv: Any, v2: Any) -> Any:
        out = getattr(v2.functional, name)(points(L, tv), **options)
        return [out, L.tensor(out.canvas_size)]

    return call


for _name, _all in (POINTWISE | FRAMES).items():
    for _at, _options in enumerate(_all):
        for _kind in KINDS:
            if not (_kind == "int16" and _name in LAST_BIT):
                CASES[f"{_name} {_at} {_kind}"] = _of_pictures(_name, _options, _kind)
        if _name in FRAMES:
            CASES[f"{_name} {_at} mask"] = _of_masks(_name, _options)
            CASES[f"{_name} {_at} points"] = _of_points(_name, _options)
            for _form in FORMATS:
                CASES[f"{_name} {_at} {_form}"] = _of_boxes(_name, _options, _form, "soft", True)
            CASES[f"{_name} {_at} XYXY whole"] = _of_boxes(_name, _options, "XYXY", None, False)
            CASES[f"{_name} {_at} XYWHR hard"] = _of_boxes(_name, _options, "XYWHR", "hard", True)


def _converted(old: str, new: str, floats: bool) -> Callable:
    def call(L: Any, tv: Any, v2: Any) -> Any:
        return v2.functional.convert_bounding_box_format(boxes(L, tv, old, floats), new_format=new)

    return call


for _old in FORMATS:
    for _new in FORMATS:
        if (FORMATS.index(_old) < 3) == (FORMATS.index(_new) < 3):
            CASES[f"convert {_old} {_new}"] = _converted(_old, _new, True)
            if FORMATS.index(_old) < 3:
                CASES[f"convert {_old} {_new} whole"] = _converted(_old, _new, False)


@case("to_dtype")
def _types(L: Any, tv: Any, v2: Any) -> Any:
    kinds = ("uint8", "int16", "int32", "int64", "float32", "float64", "float16", "int8")
    out = []
    for old in kinds:
        for new in kinds:
            for scale in (False, True):
                try:
                    x = picture(L, "uint8").to(getattr(L, old)) if "float" not in old else picture(L, old)
                    out.append(v2.functional.to_dtype(x, getattr(L, new), scale=scale).to(L.float64))
                except RuntimeError:
                    out.append(L.zeros(1))
    return out


@case("elastic")
def _elastic(L: Any, tv: Any, v2: Any) -> Any:
    moved = L.tensor(numbers(1, *SIZE, 2, seed=3) * 0.2 - 0.1, dtype=L.float32)
    sample = everything(L, tv)
    F = v2.functional
    return [
        F.elastic(picture(L, "uint8"), moved),
        F.elastic(picture(L, "float32"), moved, fill=[1.0, 0.5, 0.25]),
        F.elastic(sample["mask"], moved),
        F.elastic(sample["boxes"], moved),
        F.elastic(boxes(L, tv, "XYWHR"), moved),
        F.elastic(sample["points"], moved),
    ]


@case("values")
def _values(L: Any, tv: Any, v2: Any) -> Any:
    F = v2.functional
    return [
        F.normalize(picture(L), [0.4, 0.5, 0.6], [0.2, 0.3, 0.4]),
        *F.five_crop(picture(L), 7),
        *F.ten_crop(picture(L), [7, 5], vertical_flip=True),
        F.uniform_temporal_subsample(picture(L, "float32", 7, 3, 4, 5), 3),
        *F.sanitize_bounding_boxes(boxes(L, tv, "XYXY")),
        *F.sanitize_bounding_boxes(boxes(L, tv, "XYWHR"), min_size=2.0),
        *F.sanitize_keypoints(points(L, tv)),
        F.clamp_keypoints(points(L, tv)),
        L.tensor(F.get_size(points(L, tv)) + F.get_dimensions(picture(L)) + [F.get_num_channels(picture(L))]),
        F.pad(picture(L), [1, 2], padding_mode="reflect"),
        F.pad(picture(L, "uint8"), [1, 2], padding_mode="symmetric"),
        F.pad(picture(L, "uint8"), [1, 2], padding_mode="edge"),
        F.pad(picture(L, "uint8"), [1, 2, 0, 1], fill=[1, 2, 3]),
        F.to_image(numbers(4, 5, 3)),
        F.grayscale_to_rgb(picture(L, "float32", 1, 4, 5)),
        F.affine(picture(L), 10, [0, 0], 1.0, 5, fill=[0.1, 0.2, 0.3]),
    ]


# Drawn: each with its seed, twenty times.
DRAWN = {
    "RandomHorizontalFlip": {},
    "RandomVerticalFlip": {},
    "Resize": {"size": 12},
    "CenterCrop": {"size": [12, 30]},
    "RandomResizedCrop": {"size": [12, 9]},
    "Pad": {"padding": [1, 2], "fill": 3},
    "RandomZoomOut": {"fill": 1, "p": 0.8},
    "RandomRotation": {"degrees": 40, "expand": True},
    "RandomAffine": {"degrees": 40, "translate": (0.2, 0.1), "scale": (0.7, 1.3), "shear": [-5, 5, -8, 8]},
    "RandomCrop": {"size": [24, 20], "padding": 1, "pad_if_needed": True},
    "RandomPerspective": {"p": 0.9},
    "ElasticTransform": {"alpha": 20.0, "sigma": 2.0},
    "RandomIoUCrop": {},
    "ScaleJitter": {"target_size": (20, 20), "scale_range": (0.5, 1.5)},
    "RandomShortestSize": {"min_size": [8, 10, 12], "max_size": 15},
    "RandomResize": {"min_size": 8, "max_size": 20},
    "ColorJitter": {"brightness": 0.4, "contrast": (0.5, 1.4), "saturation": 0.3, "hue": 0.2},
    "RandomChannelPermutation": {},
    "RandomPhotometricDistort": {},
    "RandomGrayscale": {"p": 0.5},
    "RandomEqualize": {},
    "RandomInvert": {},
    "RandomAutocontrast": {},
    "RandomAdjustSharpness": {"sharpness_factor": 1.5},
    "RandomSolarize": {"threshold": 0.5},
    "GaussianBlur": {"kernel_size": [3, 5]},
    "RandomErasing": {"p": 0.9, "value": "random"},
    "ToPureTensor": {},
    "ClampBoundingBoxes": {},
    "ClampKeyPoints": {},
    "SanitizeBoundingBoxes": {},
}


def _drawn(name: str, options: dict) -> Callable:
    def call(L: Any, tv: Any, v2: Any) -> Any:
        L.manual_seed(7)
        transform = getattr(v2, name)(**options)
        sample = everything(L, tv)
        if name in (
            "RandomIoUCrop",
            "RandomErasing",
            "ColorJitter",
            "RandomSolarize",
            "RandomChannelPermutation",
        ):
            del sample["video"]
        if name in ("RandomErasing",):
            for kind in ("boxes", "points", "mask"):
                del sample[kind]
        return [transform(sample) for _ in range(8)] + [L.rand(1)]

    return call


for _name, _options in DRAWN.items():
    CASES[_name] = _drawn(_name, _options)


def _automatic(name: str, options: dict, kind: str) -> Callable:
    def call(L: Any, tv: Any, v2: Any) -> Any:
        L.manual_seed(11)
        given = {
            key: getattr(v2.AutoAugmentPolicy, value) if key == "policy" else value
            for key, value in options.items()
        }
        transform = getattr(v2, name)(**given)
        sample = (tv.Image(picture(L, kind)), 3)
        return [transform(sample)[0] for _ in range(24)] + [L.rand(1)]

    return call


for _kind in ("uint8", "float32"):
    for _policy in ("IMAGENET", "CIFAR10", "SVHN"):
        CASES[f"AutoAugment {_policy} {_kind}"] = _automatic("AutoAugment", {"policy": _policy}, _kind)
    CASES[f"RandAugment {_kind}"] = _automatic("RandAugment", {"fill": 0}, _kind)
    CASES[f"TrivialAugmentWide {_kind}"] = _automatic("TrivialAugmentWide", {}, _kind)
CASES["AugMix"] = _automatic("AugMix", {}, "float32")
CASES["AugMix part"] = _automatic("AugMix", {"all_ops": False, "chain_depth": 2, "severity": 7}, "float32")


@case("containers")
def _containers(L: Any, tv: Any, v2: Any) -> Any:
    L.manual_seed(5)
    flip, invert, blur = v2.RandomHorizontalFlip(), v2.RandomInvert(), v2.GaussianBlur(3)
    out = []
    for whole in (
        v2.Compose([v2.RandomCrop(10), flip, v2.ToDtype(L.float64, scale=True)]),
        v2.RandomApply([invert, blur], p=0.5),
        v2.RandomChoice([flip, invert, blur], p=[1, 2, 3]),
        v2.RandomOrder([flip, invert, blur]),
    ):
        out += [whole(picture(L, "uint8")) for _ in range(8)]
        out += whole(tv.Image(picture(L)), boxes(L, tv, "XYXY"))
    return [*out, L.rand(1)]


@case("mixing")
def _mixing(L: Any, tv: Any, v2: Any) -> Any:
    L.manual_seed(3)
    batch, labels = picture(L, "float32", 4, 3, *SIZE), L.tensor([0, 1, 2, 1])
    out = []
    for _ in range(5):
        for transform in (v2.MixUp(alpha=0.4, num_classes=3), v2.CutMix(num_classes=3)):
            out += transform(batch, labels)
    out += [v2.LinearTransformation(L.eye(12) * 2, L.ones(12))(picture(L, "float32", 3, 2, 2))]
    return [*out, v2.GaussianNoise()(picture(L)), v2.GaussianNoise(0.1, 0.3)(picture(L, "uint8")), L.rand(1)]


@case("types")
def _kinds(L: Any, tv: Any, v2: Any) -> Any:
    sample = everything(L, tv, floats=False)
    by_kind = {tv.Mask: L.int64, tv.Image: L.float32, "others": None}
    steps = v2.Compose([v2.ConvertBoundingBoxFormat("CXCYWH"), v2.SetClampingMode(None), v2.ToDtype(by_kind)])
    return [steps(sample), v2.ToDtype(L.float32, scale=True)(sample), v2.ConvertImageDtype(L.float64)(sample)]


def flat(L: Any, value: Any) -> list:
    """The tensors in a result, in order."""
    if isinstance(value, L.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [one for part in value for one in flat(L, part)] if isinstance(value, (list, tuple)) else []


def digest(L: Any, value: Any) -> list[float]:
    """How many numbers there are, a sum that every one of them moves by its own weight, and how large they are."""
    found = [
        np.asarray(one.detach().as_subclass(L.Tensor).to(L.float64).numpy()).ravel() for one in flat(L, value)
    ]
    numbers = np.nan_to_num(np.concatenate(found))
    weights = np.cos(np.arange(len(numbers)) * 0.7 + 0.3)
    return [float(len(numbers)), float(numbers @ weights), float(np.abs(numbers).sum())]
