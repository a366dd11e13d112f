"""Calls of torchvision's ops, the same for both libraries; each becomes a few numbers.

`NUMBERS` are torchvision 0.28's, of what it has in Python; `test_regions.py` has references for what it has in C++.
"""

import numpy as np

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


class Side:
    """A library and its ops."""

    def __init__(self, torch, ops):
        self.torch, self.ops = torch, ops

    def tensor(self, *shape, seed=0, low=0.0, high=1.0, grad=False, dtype="float64"):
        values = np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)
        return self.torch.tensor(values, requires_grad=grad)

    def boxes(self, n, size, seed=0, grad=False):
        rng = np.random.default_rng(seed)
        first = rng.uniform(-2, size * 0.7, (n, 2))
        return self.torch.tensor(
            np.concatenate([first, first + rng.uniform(0.1, size * 0.6, (n, 2))], 1), requires_grad=grad
        )


def number(tensor):
    """One number that every element moves, each by its own weight."""
    values = np.asarray(tensor.detach().numpy(), float).ravel()
    return [len(values), float(values @ np.cos(np.arange(len(values)) * 0.7 + 0.3))]


def numbers(side, name):
    found = CASES[name](side)
    return [number(one) for one in (found if isinstance(found, (list, tuple)) else [found])]


def with_gradients(side, out, *inputs):
    """The result and the gradients of a sum of it with weights."""
    weights = side.torch.tensor(np.sin(np.arange(out.numel()) + 1.0).reshape(tuple(out.shape)))
    (out * weights).sum().backward()
    return [out, *(x.grad for x in inputs)]


@case
def multi_scale(side):
    pool = side.ops.MultiScaleRoIAlign(["a", "b", "c"], 3, 2, canonical_scale=20, canonical_level=2)
    x = {
        name: side.tensor(2, 3, 32 // k, 32 // k, seed=k)
        for name, k in (("a", 1), ("b", 2), ("x", 3), ("c", 4))
    }
    return pool(x, [side.boxes(5, 40).abs(), side.boxes(4, 40, 5).abs()], [(64, 60), (62, 64)])


@case
def small_and_clipped(side):
    boxes = side.boxes(20, 30)
    clipped = side.ops.clip_boxes_to_image(boxes, (12, 20))
    return [clipped, side.ops.remove_small_boxes(clipped, 4.0)]


@case
def formats(side):
    found = [side.boxes(6, 20)]
    for way in ("cxcywh", "xywh", "cxcywh", "xyxy", "xywh", "xyxy"):
        found.append(side.ops.box_convert(found[-1], found_format(found), way))
    turned = side.torch.cat([side.boxes(6, 20), side.tensor(6, 1, high=90.0)], 1)
    way = "cxcywhr"
    for next_way in ("xywhr", "xyxyxyxy", "cxcywhr", "xyxyxyxy", "xywhr", "cxcywhr"):
        turned = side.ops.box_convert(turned, way, next_way)
        way = next_way
        found.append(turned)
    return found


def found_format(found):
    return ("xyxy", "cxcywh", "xywh", "cxcywh", "xyxy", "xywh")[len(found) - 1]


@case
def areas(side):
    a, b = side.boxes(5, 20), side.boxes(7, 20, 3)
    whole = [(t * 3).long() for t in (a, b)]
    found = [side.ops.box_area(a), side.ops.box_iou(a, b), side.ops.box_iou(*whole)]
    found += [getattr(side.ops, f"{kind}_box_iou")(a, b) for kind in ("generalized", "distance", "complete")]
    found += [
        side.ops.box_iou(a.abs(), b.abs(), fmt="xywh"),
        side.ops.box_iou(a.abs(), b.abs(), fmt="cxcywh"),
    ]
    return found


@case
def masks(side):
    return side.ops.masks_to_boxes((side.tensor(5, 9, 11) > 0.97).double())


def _loss(kind, reduction):
    def run(side):
        a, b = side.boxes(9, 20, grad=True), side.boxes(9, 20, 3, grad=True)
        return with_gradients(side, getattr(side.ops, f"{kind}_box_iou_loss")(a, b, reduction), a, b)

    return run


for _kind in ("generalized", "distance", "complete"):
    CASES[f"{_kind}_loss"] = _loss(_kind, "none")
    CASES[f"{_kind}_loss_mean"] = _loss(_kind, "mean")


@case
def focal(side):
    x = side.tensor(6, 5, low=-3, high=3, grad=True)
    y = (side.tensor(6, 5, seed=1) > 0.5).double()
    total = (
        side.ops.sigmoid_focal_loss(x, y, reduction="sum") + side.ops.sigmoid_focal_loss(x, y, -1, 3).mean()
    )
    return with_gradients(side, total, x)


@case
def modules(side):
    side.torch.manual_seed(3)
    nets = [
        side.ops.Conv2dNormActivation(4, 6, (3, 5), stride=2),
        side.ops.SqueezeExcitation(4, 2),
        side.ops.FrozenBatchNorm2d(4),
        side.ops.DeformConv2d(4, 2, 3, groups=2),
        side.ops.FeaturePyramidNetwork([4, 8], 4),
        side.ops.MLP(8, [6, 5, 2], norm_layer=side.torch.nn.LayerNorm),
    ]
    x = side.tensor(2, 4, 8, 8, dtype="float32")
    found = [nets[0](x), nets[1](x), nets[2](x)]
    found += nets[4]({"a": x, "b": side.tensor(2, 8, 4, 4, dtype="float32")}).values()
    found += [nets[5](x[0]), side.ops.Permute([0, 2, 3, 1])(x)]
    return found + [p for net in nets for p in net.parameters()]


@case
def left_out(side):
    side.torch.manual_seed(3)
    x = side.torch.ones(16, 3, 9, 9)
    found = [side.ops.stochastic_depth(x, 0.4, mode) for mode in ("row", "batch")]
    found += [side.ops.DropBlock2d(0.2, 3)(x), side.ops.drop_block3d(side.torch.ones(2, 3, 5, 6, 7), 0.2, 3)]
    return found


# The number of elements and `number` of each result.
NUMBERS = {
    "areas": [
        (5, -67.292425),
        (35, 0.19674661),
        (35, 0.12376515),
        (35, 1.1770515),
        (35, 0.18556252),
        (35, -0.014973769),
        (35, -0.15048547),
        (35, 0.014275586),
    ],
    "complete_loss": [(9, 0.25707358), (36, 0.016995901), (36, -0.067009751)],
    "complete_loss_mean": [(1, 1.3093668), (36, -0.0011018745), (36, -0.0058365434)],
    "distance_loss": [(9, 0.24561594), (36, 0.012167905), (36, -0.061771412)],
    "distance_loss_mean": [(1, 1.2989608), (36, -0.00070601093), (36, -0.0061421034)],
    "focal": [(1, 15.375565), (30, 0.14066189)],
    "formats": [
        (24, 15.021101),
        (24, 19.844916),
        (24, 18.83599),
        (24, 19.844916),
        (24, 15.021101),
        (24, 18.83599),
        (24, 15.021101),
        (30, -62.095253),
        (48, -11.362292),
        (30, -62.190408),
        (48, -11.362292),
        (30, -62.095253),
        (30, -62.190408),
    ],
    "generalized_loss": [(9, 0.36324197), (36, 0.0088086752), (36, 0.089332003)],
    "generalized_loss_mean": [(1, 1.5115568), (36, 0.00068507631), (36, 0.0024645858)],
    "left_out": [(3888, 2.2639153), (3888, 2.07072), (3888, 41.094488), (1260, 10.359639)],
    "masks": [(20, -6.727601)],
    "modules": [
        (192, 10.093511),
        (512, 1.8017381),
        (512, 3.4422618),
        (512, 4.5971803),
        (128, 0.94034757),
        (64, 1.3377891),
        (512, -4.8184126),
        (360, -0.44924149),
        (6, -1.1607023),
        (6, 0.0),
        (8, -0.74252882),
        (2, 0.099735607),
        (8, -0.64412332),
        (4, 1.0977275),
        (36, -1.0282486),
        (2, -0.077104191),
        (16, 1.3207563),
        (4, 0.0),
        (32, 1.373792),
        (4, 0.0),
        (144, 2.7080636),
        (4, 0.0),
        (144, -2.6711141),
        (4, 0.0),
        (48, -0.047680989),
        (6, -0.29988334),
        (6, -1.1607023),
        (6, 0.0),
        (30, -0.73144319),
        (5, 0.72284022),
        (5, -0.36973457),
        (5, 0.0),
        (10, 0.11800903),
        (2, 0.10625554),
    ],
    "multi_scale": [(243, 0.54476642)],
    "small_and_clipped": [(80, 30.464452), (5, -29.052035)],
}
