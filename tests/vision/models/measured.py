"""Networks and what is measured of them, the same for two libraries; `numbers.py` has torchvision's.

`python -m tests.vision.models.measured DIR` measures beside the torchvision that lies in DIR (`pip install --target DIR
--no-deps torchvision`) and writes the file anew; with names after it, or `all`, it compares whole networks of the two.
"""

import argparse
import contextlib
import hashlib
import json
import re
import sys
import time
import warnings
from pathlib import Path

import numpy as np

HEAD = """Numbers of torchvision 0.28, as `measured.py` wrote them (`ruff format` after it)."""
FILE = Path(__file__).with_name("numbers.py")


def _rows(m):
    own = sys.modules[m.MobileNetV3.__module__]
    return [own.InvertedResidualConfig(*row, 1, 1.0) for row in MOBILE]


MOBILE = ((8, 3, 8, 8, True, "RE", 1), (8, 5, 24, 16, False, "HS", 2), (16, 3, 40, 16, True, "HS", 1))


def _efficient(m, second):
    own = sys.modules[m.EfficientNet.__module__]
    if second:
        fused = own.FusedMBConvConfig
        rows = [fused(1, 3, 1, 8, 8, 2), fused(4, 3, 2, 8, 16, 2), own.MBConvConfig(4, 3, 2, 16, 24, 2)]
        return m.EfficientNet(rows, 0.3, num_classes=5, last_channel=32, stochastic_depth_prob=0.6)
    rows = [
        own.MBConvConfig(*row, width_mult=1.1, depth_mult=1.2)
        for row in ((1, 3, 1, 8, 8, 1), (6, 5, 2, 8, 16, 2))
    ]
    return m.EfficientNet(rows, 0.3, num_classes=5, stochastic_depth_prob=0.6)


def _conv(m, **config):
    own = sys.modules[m.ConvNeXt.__module__]
    rows = [own.CNBlockConfig(8, 16, 2), own.CNBlockConfig(16, None, 2)]
    return m.ConvNeXt(rows, 0.6, layer_scale=0.5, num_classes=5, **config)


def _vit(m, **config):
    return m.VisionTransformer(
        32, 4, 2, 2, 8, 16, dropout=0.2, attention_dropout=0.2, num_classes=5, **config
    )


def _vit_stem(m):
    stem = sys.modules[m.VisionTransformer.__module__].ConvStemConfig
    layers = [stem(8, 3, 2), stem(12, 3, 2)]
    return m.VisionTransformer(32, 4, 1, 2, 8, 16, num_classes=5, conv_stem_configs=layers)


def _swin(m, second, dropped=0.2):
    own = sys.modules[m.SwinTransformer.__module__]
    more = {"block": own.SwinTransformerBlockV2, "downsample_layer": own.PatchMergingV2} if second else {}
    return m.SwinTransformer(
        [4, 2], 8, [2, 2], [2, 4], [3, 4], 2.0, dropped, dropped, 0.4, num_classes=5, **more
    )


def _regnet(m, weighed):
    rows = sys.modules[m.RegNet.__module__].BlockParams.from_init_params(5, 16, 12.3, 2.1, 8, 1.0, weighed)
    return m.RegNet(rows, num_classes=5, stem_width=16)


def _maxvit(m):
    return m.MaxVit(
        (32, 32), 8, 2, [8, 16], [2, 1], 4, 0.6, mlp_dropout=0.2, attention_dropout=0.2, num_classes=5
    )


def _inception(m):
    own = sys.modules[m.Inception3.__module__]
    names = ("BasicConv2d", *(f"Inception{kind}" for kind in "ABCDE"))
    nn = own.nn

    def middle(channels, classes):  # torchvision's own wants larger pictures
        return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))

    parts = [*(getattr(own, name) for name in names), middle]
    return m.Inception3(5, transform_input=True, inception_blocks=parts)


# A network, and height and width of its pictures.
SMALL = {
    "convnext": (_conv, 64, 48),
    "densenet": (lambda m: m.DenseNet(8, (2, 2, 2), 16, 2, 0.2, 5), 48, 32),
    "densenet_checkpointed": (lambda m: m.DenseNet(8, (2, 2), 16, 2, 0, 5, memory_efficient=True), 32, 32),
    "efficientnet": (lambda m: _efficient(m, False), 32, 40),
    "efficientnet_v2": (lambda m: _efficient(m, True), 32, 40),
    "googlenet": (lambda m: m.GoogLeNet(5, transform_input=True), 64, 64),
    "googlenet_alone": (lambda m: m.GoogLeNet(5, aux_logits=False, init_weights=False), 32, 32),
    "inception_v3": (_inception, 107, 107),
    "inception_v3_middle": (lambda m: sys.modules[m.Inception3.__module__].InceptionAux(3, 5), 17, 17),
    "maxvit": (_maxvit, 32, 32),
    "mnasnet": (lambda m: m.MNASNet(0.25, 5), 32, 48),
    "mobilenet_v2": (lambda m: m.MobileNetV2(5, 0.25), 32, 48),
    "mobilenet_v3": (lambda m: m.MobileNetV3(_rows(m), 24, 5), 32, 40),
    "mobilenet_v3_dilated": (
        lambda m: m.mobilenet_v3_small(num_classes=5, width_mult=0.5, reduced_tail=True, dilated=True),
        64,
        48,
    ),
    "regnet_x": (lambda m: _regnet(m, None), 32, 40),
    "regnet_y": (lambda m: _regnet(m, 0.25), 32, 40),
    "resnet": (lambda m: m.ResNet(sys.modules[m.ResNet.__module__].BasicBlock, [1, 1, 1, 1], 5), 33, 40),
    "shufflenet_v2": (lambda m: m.ShuffleNetV2([2, 2, 2], [8, 16, 32, 64, 48], 5), 64, 48),
    "squeezenet": (lambda m: m.SqueezeNet("1_1", 5), 48, 48),
    "swin": (lambda m: _swin(m, False), 44, 34),
    "swin_v2": (lambda m: _swin(m, True), 44, 34),
    "swin_v2_undropped": (lambda m: _swin(m, True, 0.0), 12, 40),
    "vit": (_vit, 32, 32),
    "vit_with_a_hidden_layer": (lambda m: _vit(m, representation_size=12), 32, 32),
    "vit_with_a_stem": (_vit_stem, 32, 32),
}


def digest(lines):
    """A short text that every line moves."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def keys(network):
    """The names of the state_dict in their order, each with shape and dtype."""
    return [
        f"{name} {tuple(value.shape)} {str(value.dtype).split('.')[-1]}"
        for name, value in network.state_dict().items()
    ]


@contextlib.contextmanager
def unfilled(init):
    """Skip the drawing of first values, which takes seconds for a hundred million."""
    fills = {name: fill for name, fill in vars(init).items() if re.fullmatch(r"[a-z]\w*[a-z]_", name)}
    try:
        for name in fills:
            setattr(init, name, lambda tensor, *args, **kwargs: tensor)
        yield
    finally:
        for name, fill in fills.items():
            setattr(init, name, fill)


def number(tensors):
    """Two numbers that every element moves: with weights, and of magnitudes."""
    total = [0.0, 0.0]
    for tensor in tensors:
        values = np.asarray(tensor.detach().numpy(), np.float64).ravel()
        total[0] += float(values @ np.cos(np.arange(len(values)) * 0.7 + 0.3))
        total[1] += float(np.abs(values).sum())
    return total


def printed(network):
    """What is printed of a network, but for what one version of torch prints of a layer and another does not."""
    return re.sub(r", bias=True(?=, track_running_stats)", "", repr(network))


def measure(library, make, height, width):
    """What is compared of a network, as text and numbers."""
    library.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        network = make()
    found = {
        "keys": digest(keys(network)),
        "printed": digest([printed(network)]),
        "first values": number(network.state_dict().values()),
    }
    # What begins as zeros would hide what comes before it.
    with library.no_grad():
        for p in network.parameters():
            if not p.any():
                p += library.tensor(0.1 * np.cos(1.3 * np.arange(p.numel())).reshape(tuple(p.shape))).to(
                    p.dtype
                )
    network = network.double()
    pictures = np.random.default_rng(0).random((2, 3, height, width))
    with library.no_grad():
        found["eval"] = number([network.eval()(library.tensor(pictures))])
    ran = []
    for name, module in network.named_modules():
        module.register_forward_hook(lambda *_, name=name: ran.append(name))
    x = library.tensor(pictures, requires_grad=True)
    library.manual_seed(1)
    out = network.train()(x)
    out = [one for one in (out if isinstance(out, tuple) else [out]) if one is not None]
    found["order"] = digest(ran)
    found["train"] = number(out)
    found["drawn"] = library.rand(1).item()
    weights = [library.tensor(np.sin(np.arange(one.numel()) + 1.0)).reshape(tuple(one.shape)) for one in out]
    sum((one * w).sum() for one, w in zip(out, weights, strict=True)).backward()
    # Each gradient counts as much as another; those that are zero but for rounding do not.
    grads = [x.grad, *(p.grad for p in network.parameters() if p.grad is not None)]
    sizes = [float(np.abs(g.numpy()).max()) for g in grads]
    found["gradients"] = number(
        g / size for g, size in zip(grads, sizes, strict=True) if size > 1e-9 * max(sizes)
    )
    found["buffers"] = number(network.buffers())
    return found


def differences(mine, theirs, rel=1e-5):
    """The names of what is not the same."""
    wrong = []
    for name, value in theirs.items():
        if isinstance(value, str):
            same = mine[name] == value
        else:
            same = np.allclose(mine[name], value, rtol=0, atol=rel * (np.abs(value).max() + 1e-6))
        if not same:
            wrong.append(f"{name}: {mine[name]}, not {value}")
    return wrong


def real(folder):
    """The torchvision of a folder; its ops in C++ are declared where its build does not fit torch's."""
    import torch

    sys.path.append(folder)
    own = Path(folder, "torchvision")
    text = "".join(own.joinpath(f"_{kind}_registrations.py").read_text() for kind in ("meta", "autograd"))
    library = torch.library.Library("torchvision", "DEF")
    library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    for name in sorted(
        {*re.findall(r"torchvision::(\w+)", text), *re.findall(r'register_meta\("(\w+)', text)}
    ):
        if name != "nms":
            library.define(f"{name}(Tensor x) -> Tensor")
    warnings.simplefilter("ignore")
    import torchvision

    real.kept = library
    return torch, torchvision.models


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder")
    arguments.add_argument("names", nargs="*")
    asked = arguments.parse_args()
    torch, theirs = real(asked.folder)
    import vistorch
    from vistorch.vision import models as mine

    if not asked.names:
        numbers = {"small": {}, "keys": {}}
        for name, (make, *size) in SMALL.items():
            numbers["small"][name] = measure(torch, lambda make=make: make(theirs), *size)
        with unfilled(torch.nn.init):
            for name in theirs.list_models(theirs):
                numbers["keys"][name] = digest(keys(theirs.get_model(name)))
        FILE.write_text(f'"""{HEAD}"""\n\nNUMBERS = {json.dumps(numbers, indent=4)}\n')
        return
    for name in theirs.list_models(theirs) if asked.names == ["all"] else asked.names:
        side = 299 if name == "inception_v3" else 224
        found, seconds = [], []
        for library, models in ((torch, theirs), (vistorch, mine)):
            begin = time.time()
            found.append(
                measure(library, lambda models=models, name=name: models.get_model(name), side, side)
            )
            seconds.append(time.time() - begin)
        wrong = differences(found[1], found[0])
        print(f"{name:24} {seconds[0]:6.1f} s {seconds[1]:6.1f} s  {wrong or 'the same'}", flush=True)


if __name__ == "__main__":
    main()
