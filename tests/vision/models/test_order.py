"""The order in which a network's modules run is torchvision's: hooks, summaries and recorders of activations see it."""

import vistorch
from vistorch.vision import models
from vistorch.vision.models.mobilenetv2 import InvertedResidual
from vistorch.vision.models.resnet import BasicBlock, Bottleneck
from vistorch.vision.models.squeezenet import Fire


def order(net, *shape):
    """The leaves of a network in the order in which they ran, by name."""
    ran = []
    for name, module in net.named_modules():
        if not list(module.children()):
            module.register_forward_hook(lambda *_, name=name: ran.append(name))
    with vistorch.no_grad():
        net.eval()(vistorch.zeros(shape))
    return ran


def around(inplanes, planes, stride):
    return vistorch.nn.Sequential(
        vistorch.nn.Conv2d(inplanes, planes, 1, stride, bias=False), vistorch.nn.BatchNorm2d(planes)
    )


def test_the_way_around_a_basic_block_runs_after_its_convolutions():
    first = ["conv1", "bn1", "relu", "conv2", "bn2"]
    assert order(BasicBlock(4, 4), 1, 4, 8, 8) == [*first, "relu"]
    block = BasicBlock(4, 8, 2, around(4, 8, 2))
    assert order(block, 1, 4, 8, 8) == [*first, "downsample.0", "downsample.1", "relu"]


def test_the_way_around_a_bottleneck_runs_after_its_convolutions():
    first = ["conv1", "bn1", "relu", "conv2", "bn2", "relu", "conv3", "bn3"]
    assert order(Bottleneck(8, 2), 1, 8, 8, 8) == [*first, "relu"]
    block = Bottleneck(4, 2, 2, around(4, 8, 2))
    assert order(block, 1, 4, 8, 8) == [*first, "downsample.0", "downsample.1", "relu"]


def test_a_resnet():
    block = ["conv1", "bn1", "relu", "conv2", "bn2", "relu"]
    wide = [*block[:5], "downsample.0", "downsample.1", "relu"]
    rows = [[block, block]] + [[wide, block]] * 3
    within = [
        f"layer{i}.{j}.{name}" for i, row in enumerate(rows, 1) for j, b in enumerate(row) for name in b
    ]
    assert order(models.resnet18(num_classes=2), 1, 3, 32, 32) == [
        "conv1",
        "bn1",
        "relu",
        "maxpool",
        *within,
        "avgpool",
        "fc",
    ]


def test_a_fire_module():
    parts = ["squeeze", "squeeze_activation"]
    parts += ["expand1x1", "expand1x1_activation", "expand3x3", "expand3x3_activation"]
    assert order(Fire(4, 2, 3, 3), 1, 4, 5, 5) == parts


def test_an_inverted_residual():
    within = [f"conv.{part}" for part in ("0.0", "0.1", "0.2", "1.0", "1.1", "1.2", "2", "3")]
    assert order(InvertedResidual(4, 4, 1, 2), 1, 4, 5, 5) == within
    assert order(InvertedResidual(4, 6, 2, 1), 1, 4, 5, 5) == [
        f"conv.{p}" for p in ("0.0", "0.1", "0.2", "1", "2")
    ]


def test_networks_in_rows(monkeypatch):
    for init in ("normal_", "kaiming_normal_", "kaiming_uniform_", "uniform_", "constant_"):
        monkeypatch.setattr(
            vistorch.nn.init, init, lambda tensor, *_, **__: tensor.data.zero_()
        )  # values do not matter
    for net, size in (
        (models.alexnet(num_classes=2), 64),
        (models.vgg11_bn(num_classes=2), 32),
        (models.squeezenet1_1(num_classes=2), 64),
        (models.mobilenet_v2(num_classes=2), 32),
    ):
        leaves = [name for name, module in net.named_modules() if not list(module.children())]
        assert order(net, 1, 3, size, size) == leaves
