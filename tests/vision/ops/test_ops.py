"""torchvision's ops give torchvision's numbers, and refuse what it refuses."""

import pytest

import vistorch
from tests.vision.ops.cases import CASES, NUMBERS, Side, numbers
from vistorch.vision import ops


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_torchvisions(name):
    found = numbers(Side(vistorch, ops), name)
    assert [count for count, _ in found] == [count for count, _ in NUMBERS[name]]
    for (_, mine), (_, theirs) in zip(found, NUMBERS[name], strict=True):
        assert mine == pytest.approx(theirs, rel=1e-6, abs=1e-6)


def test_an_empty_mean_has_a_gradient():
    boxes = vistorch.zeros(0, 4, requires_grad=True)
    loss = ops.generalized_box_iou_loss(boxes, vistorch.zeros(0, 4), "mean")
    loss.backward()
    assert loss == 0 and boxes.grad.shape == (0, 4)


def test_files_of_weights_fit():
    frozen = ops.FrozenBatchNorm2d(3)
    frozen.load_state_dict(vistorch.nn.BatchNorm2d(3).state_dict())
    assert not list(frozen.parameters()) and len(list(frozen.buffers())) == 4
    pyramid = ops.FeaturePyramidNetwork([2], 2)
    old = {key.replace(".0.0.", ".0."): value for key, value in pyramid.state_dict().items()}
    pyramid.load_state_dict(old)
    assert list(old) != list(pyramid.state_dict())


def test_half_precision_and_whole_numbers_are_widened():
    boxes = vistorch.tensor([[0, 0, 200, 200]], dtype=vistorch.uint8)
    assert ops.box_area(boxes).tolist() == [40000]
    assert ops.box_area(boxes.half()).dtype == vistorch.float32


BAD = [
    (lambda b, s: ops.nms(b[0], s, 0.5), RuntimeError, "boxes should be a 2d tensor, got 1D"),
    (
        lambda b, s: ops.nms(b[:, :3], s, 0.5),
        RuntimeError,
        "boxes should have 4 elements in dimension 1, got 3",
    ),
    (lambda b, s: ops.nms(b, b, 0.5), RuntimeError, "scores should be a 1d tensor, got 2D"),
    (
        lambda b, s: ops.nms(b, s[:1], 0.5),
        RuntimeError,
        "same number of elements in dimension 0, got 2 and 1",
    ),
    (lambda b, s: ops.nms(b, s.double(), 0.5), RuntimeError, "dets should have the same type as scores"),
    (lambda b, s: ops.box_convert(b, "xy", "xyxy"), ValueError, "in_fmt xy and out_fmt xyxy"),
    (lambda b, s: ops.box_convert(b, "xywh", "xywhr"), NotImplementedError, "in_fmt xywh and out_fmt xywhr"),
    (lambda b, s: ops.box_area(b, "xywhr"), ValueError, "given format xywhr"),
    (lambda b, s: ops.box_iou(b, b, "wh"), ValueError, "Unsupported format 'wh'"),
    (lambda b, s: ops.box_iou(b, b, "xywhr"), NotImplementedError, "measures upright boxes, not xywhr"),
    (lambda b, s: ops.complete_box_iou_loss(b, b, "most"), ValueError, "'reduction': 'most"),
    (lambda b, s: ops.sigmoid_focal_loss(s, s, alpha=2), ValueError, "Invalid alpha value: 2"),
    (lambda b, s: ops.stochastic_depth(b, 2.0, "row"), ValueError, "between 0 and 1, but got 2.0"),
    (lambda b, s: ops.stochastic_depth(b, 0.5, "all"), ValueError, "either 'batch' or 'row', but got all"),
    (lambda b, s: ops.drop_block2d(b, 0.5, 3), ValueError, "should be 4 dimensional. Got 2 dimensions"),
    (lambda b, s: ops.drop_block2d(b[None, None], 0.5, 2), ValueError, "should be odd. Got 2"),
    (lambda b, s: ops.roi_align(b[None, None], b, 2), AssertionError, "not correct as Tensor"),
    (lambda b, s: ops.roi_align(b[None, None], [b[:, :3]], 2), AssertionError, "not correct as List"),
    (lambda b, s: ops.roi_pool(b[None, None], [b, b], 2), IndexError, "names picture 1, and there are 1"),
    (
        lambda b, s: ops.ps_roi_pool(b[None, None], [b], 2),
        RuntimeError,
        "must be a multiple of pooling height",
    ),
    (lambda b, s: ops.DeformConv2d(3, 4, 1, groups=2), ValueError, "in_channels must be divisible by groups"),
    (lambda b, s: ops.FeaturePyramidNetwork([0], 2), ValueError, "in_channels=0 is currently not supported"),
]


@pytest.mark.parametrize("case", range(len(BAD)))
def test_refused(case):
    call, error, text = BAD[case]
    boxes = vistorch.tensor([[0.0, 0, 2, 2], [1, 1, 3, 3]])
    with pytest.raises(error) as caught:
        call(boxes, vistorch.tensor([0.5, 0.7]))
    assert text in str(caught.value)
