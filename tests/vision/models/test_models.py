"""Networks: torchvision's counts and names, and the same lines run with torch."""

import importlib
import inspect
import os
import pickle
import re
import warnings
from collections import OrderedDict

import numpy as np
import pytest

import vistorch
from tests.vision.models.counterparts import counterpart
from tests.vision.models.measured import SMALL, differences, measure, unfilled, whole
from tests.vision.models.numbers import NUMBERS
from vistorch.vision import models
from vistorch.vision.models import mnasnet, registry, vision_transformer
from vistorch.vision.models.weights import enums

torch = pytest.importorskip("torch", reason="torch is the reference")

NAMES = sorted([*NUMBERS["whole"], "lenet"])
# As torchvision's documentation counts parameters; pictures of another size make another count.
COUNTS = {name: {one.meta["num_params"] for one in files} for name, files in enums().items()}

# Some entries of torchvision's files, by their place.
ENTRIES = [
    ("resnet18", 0, "conv1.weight", (64, 3, 7, 7)),
    ("resnet18", 5, "bn1.num_batches_tracked", ()),
    ("resnet18", 6, "layer1.0.conv1.weight", (64, 64, 3, 3)),
    ("resnet18", 42, "layer2.0.downsample.0.weight", (128, 64, 1, 1)),
    ("resnet18", -2, "fc.weight", (1000, 512)),
    ("resnet50", 18, "layer1.0.conv3.weight", (256, 64, 1, 1)),
    ("resnet50", 24, "layer1.0.downsample.0.weight", (256, 64, 1, 1)),
    ("resnet50", -8, "layer4.2.conv3.weight", (2048, 512, 1, 1)),
    ("resnext50_32x4d", 12, "layer1.0.conv2.weight", (128, 4, 3, 3)),
    ("wide_resnet50_2", 12, "layer1.0.conv2.weight", (128, 128, 3, 3)),
    ("alexnet", 8, "features.10.weight", (256, 256, 3, 3)),
    ("alexnet", 10, "classifier.1.weight", (4096, 9216)),
    ("vgg11", 2, "features.3.weight", (128, 64, 3, 3)),
    ("vgg16", 24, "features.28.weight", (512, 512, 3, 3)),
    ("vgg16", -2, "classifier.6.weight", (1000, 4096)),
    ("vgg16_bn", 4, "features.1.running_mean", (64,)),
    ("mobilenet_v2", 0, "features.0.0.weight", (32, 3, 3, 3)),
    ("mobilenet_v2", 6, "features.1.conv.0.0.weight", (32, 1, 3, 3)),
    ("mobilenet_v2", 12, "features.1.conv.1.weight", (16, 32, 1, 1)),
    ("mobilenet_v2", 18, "features.2.conv.0.0.weight", (96, 16, 1, 1)),
    ("mobilenet_v2", -8, "features.18.0.weight", (1280, 320, 1, 1)),
    ("mobilenet_v2", -1, "classifier.1.bias", (1000,)),
    ("squeezenet1_0", 2, "features.3.squeeze.weight", (16, 96, 1, 1)),
    ("squeezenet1_1", -2, "classifier.1.weight", (1000, 512, 1, 1)),
    ("lenet", 4, "fc1.weight", (120, 400)),
]

# What is compared with torch, on pictures as small as the network allows.
RUN = {
    "lenet": ({}, 32),
    "resnet18": ({"num_classes": 7}, 33),
    "resnet50": ({"num_classes": 3, "replace_stride_with_dilation": [False, True, True]}, 32),
    "resnext50_32x4d": ({"num_classes": 3, "zero_init_residual": True}, 32),
    "mobilenet_v2": ({"num_classes": 5, "width_mult": 0.5}, 32),
    "squeezenet1_0": ({"num_classes": 5}, 48),
    "squeezenet1_1": ({"num_classes": 5}, 48),
}


def built(name):
    """The network, without the warning of those that will begin otherwise one day."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return models.get_model(name)


def test_list_models():
    assert models.list_models() == NAMES
    assert models.list_models(include="vgg*", exclude=["*_bn", "vgg11"]) == ["vgg13", "vgg16", "vgg19"]
    assert models.list_models(models) == NAMES
    assert models.list_models(models.alexnet.__class__) == []
    assert models.get_model_builder("ResNet18") is models.resnet18
    with pytest.raises(ValueError, match=r"^Unknown model resnet19$"):
        models.get_model("resnet19")


@pytest.mark.parametrize("name", NUMBERS["whole"])
def test_names_of_values(name):
    """Names, shapes and dtypes of the state_dict in their order, what is printed, how many parameters."""
    with unfilled(vistorch.nn.init):
        network = built(name)
    assert whole(network) == NUMBERS["whole"][name]
    # The file of GoogLeNet has no scores in the middle.
    parts = network.named_parameters()
    count = sum(p.numel() for key, p in parts if name != "googlenet" or not key.startswith("aux"))
    assert count in COUNTS[name]


@pytest.mark.parametrize("name", SMALL)
def test_numbers_are_torchvisions(name):
    """First values, what is printed, scores, gradients, what is drawn, the order in which modules run."""
    make, *size = SMALL[name]
    assert not differences(measure(vistorch, lambda: make(models), *size), NUMBERS["small"][name])


@pytest.mark.parametrize(("name", "place", "key", "shape"), ENTRIES)
def test_entries(name, place, key, shape):
    with unfilled(vistorch.nn.init):
        found = list(models.get_model(name).state_dict().items())[place]
    assert (found[0], tuple(found[1].shape)) == (key, shape)


@pytest.mark.parametrize("name", NAMES)
def test_signature_and_pickle(name):
    build = getattr(models, name)
    assert str(inspect.signature(build)).startswith(
        "(*, weights: 'None' = None, progress: 'bool' = True, **kwargs"
    )
    assert build.__name__ == name and pickle.loads(pickle.dumps(build)) is build


@pytest.mark.parametrize("name", RUN)
def test_like_torch(name):
    """First values, printed form, scores and gradients of the same lines."""
    config, size = RUN[name]
    pictures = np.random.default_rng(0).random((2, 3, size, size), np.float32)
    seen = []
    for library, package in ((vistorch, models), (torch, counterpart())):
        library.manual_seed(0)
        network = getattr(package, name)(**config)
        first = {key: np.array(value.numpy()) for key, value in network.state_dict().items()}
        network.eval()
        x = library.tensor(pictures)
        with library.no_grad():
            without_warnings = network(x)
        # From the same values and in float64: a batch normalization over a few values loses most digits of float32.
        start = seen[0][1] if seen else first
        network.load_state_dict({key: library.tensor(value) for key, value in start.items()})
        network.train().double()
        x = x.detach().double().requires_grad_()
        for module in network.modules():
            if isinstance(module, library.nn.Dropout):
                module.eval()
        scores = network(x)
        library.nn.functional.cross_entropy(scores, library.tensor([0, 2])).backward()
        grads = {key: p.grad.numpy() for key, p in network.named_parameters()}
        after = {key: np.array(value.numpy()) for key, value in network.named_buffers()}
        seen.append(
            (
                repr(network),
                first,
                without_warnings.numpy(),
                scores.detach().numpy(),
                grads,
                x.grad.numpy(),
                after,
            )
        )
    ours, theirs = seen
    assert ours[0] == theirs[0]
    for mine, other in ((ours[1], theirs[1]), (ours[6], theirs[6]), (ours[4], theirs[4])):
        assert list(mine) == list(other)
    for key in ours[1]:
        np.testing.assert_allclose(ours[1][key], theirs[1][key], rtol=1e-6, atol=1e-7, err_msg=key)
    np.testing.assert_allclose(ours[2], theirs[2], rtol=1e-4, atol=1e-4 * np.abs(theirs[2]).max())
    np.testing.assert_allclose(ours[3], theirs[3], rtol=1e-8)
    for k in (4, 6):
        for key, other in theirs[k].items():
            scale = np.abs(other).max() + 1e-6
            np.testing.assert_allclose(ours[k][key], other, rtol=0, atol=1e-6 * scale, err_msg=key)
    np.testing.assert_allclose(ours[5], theirs[5], rtol=0, atol=1e-6 * np.abs(theirs[5]).max())


@pytest.mark.parametrize("name", ["vgg11", "vgg13_bn", "alexnet"])
def test_features_like_torch(name, monkeypatch):
    """The large networks: printed form whole, the convolutions with their values."""
    seen = []
    pictures = np.random.default_rng(0).random((1, 3, 64, 64), np.float32)
    for library, package in ((vistorch, models), (torch, counterpart())):
        library.manual_seed(0)
        network = getattr(package, name)(num_classes=2)
        x = library.tensor(pictures, requires_grad=True)
        features = network.features.eval()(x)
        features.square().mean().backward()
        last = network.classifier[-1]
        seen.append(
            (repr(network), features.detach().numpy(), x.grad.numpy(), np.array(last.weight.detach().numpy()))
        )
    ours, theirs = seen
    assert ours[0] == theirs[0]
    for mine, other in zip(ours[1:], theirs[1:], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-4 * np.abs(other).max())


# Billions of multiplications for one picture of 224 by 224 pixels, as torchvision's documentation says.
WORK = {
    "alexnet": 0.714,
    "mobilenet_v2": 0.301,
    "resnet101": 7.801,
    "resnet152": 11.514,
    "resnet18": 1.814,
    "resnet34": 3.664,
    "resnet50": 4.089,
    "resnext101_32x8d": 16.414,
    "resnext101_64x4d": 15.46,
    "resnext50_32x4d": 4.23,
    "squeezenet1_0": 0.819,
    "squeezenet1_1": 0.349,
    "vgg11": 7.609,
    "vgg13": 11.308,
    "vgg16": 15.47,
    "vgg19": 19.632,
    "wide_resnet101_2": 22.753,
    "wide_resnet50_2": 11.398,
}


@pytest.mark.parametrize("name", WORK)
def test_work(name):
    """Strides, groups and poolings are where torchvision has them: the work is the same."""
    done = []

    def count(module, inputs, output):
        if isinstance(module, torch.nn.Conv2d):
            done.append(module.weight[0].numel() * output.numel())
        elif isinstance(module, torch.nn.Linear):
            done.append(module.weight.numel())

    with torch.device("meta"):
        network = getattr(counterpart(), name)().eval()
        for module in network.modules():
            module.register_forward_hook(count)
        assert network(torch.empty(1, 3, 224, 224)).shape == (1, 1000)
    assert round(sum(done) / 1e9, 3) == WORK[name]


def test_first_values(monkeypatch):
    """How each family begins, by the spread of its weights."""

    def spread(network, key):
        return network.get_parameter(key).std().item()

    vistorch.manual_seed(0)
    network = models.resnet18(num_classes=100)
    assert spread(network, "layer3.0.conv1.weight") == pytest.approx((2 / (256 * 9)) ** 0.5, rel=0.01)
    assert spread(network, "fc.weight") == pytest.approx((1 / 512 / 3) ** 0.5, rel=0.02)
    network = models.mobilenet_v2(num_classes=100)
    # torch counts the fan of a grouped convolution by all its output channels.
    assert spread(network, "features.17.conv.1.0.weight") == pytest.approx((2 / (9 * 960)) ** 0.5, rel=0.02)
    assert spread(network, "features.18.0.weight") == pytest.approx((2 / 1280) ** 0.5, rel=0.01)
    assert spread(network, "classifier.1.weight") == pytest.approx(0.01, rel=0.01)
    assert network.classifier[1].bias.abs().max() == 0
    network = models.squeezenet1_1(num_classes=100)
    assert spread(network, "features.12.expand3x3.weight") == pytest.approx((2 / (64 * 9)) ** 0.5, rel=0.01)
    assert spread(network, "classifier.1.weight") == pytest.approx(0.01, rel=0.01)
    drawn = []
    with monkeypatch.context() as patch:  # a hundred million values
        patch.setattr(vistorch.nn.init, "kaiming_uniform_", lambda tensor, **_: tensor)
        patch.setattr(
            vistorch.nn.init, "normal_", lambda tensor, *how: drawn.append((tuple(tensor.shape), *how))
        )
        network = models.VGG(
            vistorch.nn.Sequential(vistorch.nn.Conv2d(8, 512, 3), vistorch.nn.BatchNorm2d(512)), 100
        )
    assert spread(network, "features.0.weight") == pytest.approx((2 / (512 * 9)) ** 0.5, rel=0.02)
    assert network.features[0].bias.abs().max() == 0
    assert drawn == [((4096, 25088), 0, 0.01), ((4096, 4096), 0, 0.01), ((100, 4096), 0, 0.01)]
    network = models.resnet50(num_classes=2, zero_init_residual=True)
    assert network.layer2[1].bn3.weight.abs().max() == 0 and network.layer2[1].bn2.weight.min() == 1
    network = models.resnet18(num_classes=2, zero_init_residual=True)
    assert network.layer2[1].bn2.weight.abs().max() == 0 and network.layer2[1].bn1.weight.min() == 1


def test_state_dict_both_ways():
    torch.manual_seed(1)
    theirs = counterpart().resnet18(num_classes=4)
    ours = models.resnet18(num_classes=4)
    ours.load_state_dict(
        {key: vistorch.from_numpy(value.numpy()) for key, value in theirs.state_dict().items()}
    )
    x = np.random.default_rng(0).random((2, 3, 40, 40), np.float32)
    expected = theirs.eval()(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(
        ours.eval()(vistorch.from_numpy(x)).detach().numpy(), expected, rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("ask", [{"weights": "DEFAULT"}, {"weights": "IMAGENET1K_V1"}, {"pretrained": True}])
def test_weights_are_refused_in_a_sentence(ask):
    asked = next(iter(ask.values()))
    with pytest.raises(ValueError) as caught:
        models.resnet18(**ask)
    assert str(caught.value) == (
        f"No trained weights come with resnet18, so it cannot take {asked!r}: build it with weights=None and load a "
        "file that you have with model.load_state_dict(vistorch.load(PATH)); the names in PyTorch's files fit. "
        "ResNet18_Weights.IMAGENET1K_V1 is the file "
        f"{models.ResNet18_Weights.DEFAULT.path}: it is read if it is there"
    )
    with pytest.raises(ValueError, match="No trained weights"):
        models.get_model("vgg11", **ask)
    with pytest.raises(AttributeError, match=r"no attribute 'ResNet99_Weights'"):
        getattr(models, "ResNet99_Weights")  # noqa: B009
    assert isinstance(models.lenet(weights=None, pretrained=False), models.LeNet)


def test_weights_are_read_where_pytorch_keeps_them(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    weights = models.SqueezeNet1_1_Weights.DEFAULT
    assert weights is models.get_weight("SqueezeNet1_1_Weights.IMAGENET1K_V1")
    assert models.get_model_weights(models.squeezenet1_1) is models.SqueezeNet1_1_Weights
    with pytest.raises(FileNotFoundError, match=r"is the file squeezenet1_1-b8a52dc0.pth, and"):
        weights.get_state_dict(progress=True)
    values = models.squeezenet1_1().state_dict()
    os.makedirs(os.path.dirname(weights.path))
    vistorch.save(values, weights.path)
    for ask in ("DEFAULT", "IMAGENET1K_V1", "SqueezeNet1_1_Weights.IMAGENET1K_V1", weights):
        network = models.squeezenet1_1(weights=ask)
        assert all((network.state_dict()[key] == value).all() for key, value in values.items())
    assert models.squeezenet1_1(pretrained=True).state_dict().keys() == values.keys()
    with pytest.raises(ValueError, match="'num_classes' expected value 1000 but got 10"):
        models.squeezenet1_1(weights=weights, num_classes=10)
    with pytest.raises(KeyError, match="has no V9; there are IMAGENET1K_V1, DEFAULT"):
        models.squeezenet1_1(weights="V9")
    with pytest.raises(TypeError, match="expected SqueezeNet1_1_Weights but received ResNet18_Weights"):
        models.squeezenet1_1(weights=models.ResNet18_Weights.DEFAULT)
    with pytest.raises(ValueError, match="torchvision offers no weights for lenet"):
        models.get_model_weights("lenet")


@pytest.fixture
def files(monkeypatch):
    """Weights and the values of their file, as if it were there."""
    kept = {}
    monkeypatch.setattr(registry, "_trained", lambda name, asked: kept[name])
    return kept


def test_old_names_in_the_files_of_densenets(files):
    with unfilled(vistorch.nn.init):
        values = models.densenet121().state_dict()
        old = {
            re.sub(r"(layer\d+\.(?:norm|conv))([12])", r"\1.\2", key): value for key, value in values.items()
        }
        assert "features.denseblock4.denselayer16.norm.2.running_var" in old and len(old) == len(values)
        old["classifier.bias"] = vistorch.arange(1000.0)
        files["densenet121"] = (models.DenseNet121_Weights.DEFAULT, old)
        network = models.densenet121(weights="DEFAULT")
    assert network.classifier.bias.tolist() == list(range(1000))


@pytest.mark.parametrize(
    ("name", "parts"), [("googlenet", ("aux1", "aux2")), ("inception_v3", ("AuxLogits",))]
)
def test_files_of_inception_networks(files, name, parts):
    """They have scores in the middle, which are kept where they are asked for, and want other pictures."""
    weights = models.get_model_weights(name).DEFAULT
    with unfilled(vistorch.nn.init):
        files[name] = (weights, built(name).state_dict())
        without = models.get_model(name, weights=weights, aux_logits=False)
        assert not without.aux_logits and without.transform_input
        assert [getattr(without, part) for part in parts] == [None] * len(parts)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            whole = models.get_model(name, weights=weights, aux_logits=True, transform_input=False)
        assert [str(one.message)[:37] for one in said] == ["auxiliary heads in the pretrained goo"] * (
            len(parts) - 1
        )
        assert whole.aux_logits and None not in [getattr(whole, part) for part in parts]
        assert not whole.transform_input
        of_itself = models.get_model(name, weights=weights)
        assert of_itself.aux_logits == (name == "inception_v3")  # as in torchvision


def test_pictures_are_as_large_as_those_of_the_file(files):
    large = models.ViT_B_16_Weights.IMAGENET1K_SWAG_E2E_V1
    arguments = {}
    vision_transformer._ready(arguments, large)
    assert arguments == {"image_size": 384}
    files["vit_b_16"] = (large, {})
    with pytest.raises(ValueError, match="'image_size' expected value 384 but got 224 instead"):
        models.vit_b_16(weights=large, image_size=224)
    files["maxvit_t"] = (models.MaxVit_T_Weights.DEFAULT, {})
    with pytest.raises(
        ValueError, match=r"'input_size' expected value \(224, 224\) but got \(448, 448\) instead"
    ):
        models.maxvit_t(weights="DEFAULT", input_size=(448, 448))


def test_positions_of_another_size():
    """Between the positions of the old network; the scores' layer stays unless it is to go."""
    network = models.VisionTransformer(16, 8, 1, 2, 8, 16, num_classes=3)
    old = network.encoder.pos_embedding.detach().clone()
    new = vision_transformer.interpolate_embeddings(40, 8, network.state_dict(), "bilinear", True)
    found = new["encoder.pos_embedding"]
    assert found.shape == (1, 26, 8) and not [key for key in new if key.startswith("heads")]
    grid = found[:, 1:].reshape(5, 5, 8)
    assert (found[:, 0] == old[:, 0]).all()
    np.testing.assert_allclose(grid[0, 0], old[0, 1], rtol=1e-6)
    np.testing.assert_allclose(grid[2, 2], old[0, 1:].mean(0), rtol=1e-5)
    same = network.state_dict()
    assert vision_transformer.interpolate_embeddings(16, 8, same, reset_heads=True) is same
    same["encoder.pos_embedding"] = vistorch.zeros(1, 4, 8)
    with pytest.raises(ValueError, match="not a perfect square"):
        vision_transformer.interpolate_embeddings(32, 8, same)


def test_the_first_version_of_a_file_of_an_mnasnet():
    """Its first layers have one width for every alpha; so has the network that loads it."""
    network = models.MNASNet(0.25, num_classes=3)
    state = models.MNASNet(0.25, num_classes=3).state_dict()
    first = models.MNASNet(1.0, num_classes=3).layers
    stem = vistorch.nn.Sequential(*first[:8]).state_dict(prefix="layers.")
    row = mnasnet._row(16, 8, mnasnet.ROWS[0]).state_dict(prefix="layers.8.")
    metadata = state._metadata
    state = {**state, **stem, **row}
    state = OrderedDict(state)
    state._metadata = {**metadata, "": {"version": 1}}
    with pytest.warns(UserWarning, match="is of the first version"):
        network.load_state_dict(state)
    assert network.layers[0].weight.shape == (32, 3, 3, 3) and network._version == 1
    state._metadata = {**metadata, "": {"version": 3}}
    with pytest.raises(ValueError, match="version should be set to 1 or 2 instead of 3"):
        network.load_state_dict(state)


def test_weights_are_where_torchvision_has_them_too():
    for module, name in (
        (models.resnet, "ResNet18"),
        (models.mobilenet, "MobileNet_V2"),
        (models.regnet, "RegNet_X_8GF"),
    ):
        assert getattr(module, f"{name}_Weights") is getattr(models, f"{name}_Weights")
    with pytest.raises(AttributeError):
        models.resnet.nothing  # noqa: B018


UNBUILT = {
    "models.detection": ("fasterrcnn_resnet50_fpn", "put one together from vistorch.vision.ops"),
    "models.feature_extraction": ("create_feature_extractor", "module.register_forward_hook"),
    "models.optical_flow": ("raft_small", "write it with vistorch.nn"),
    "models.quantization": ("resnet18", "has no quantized tensors"),
    "models.segmentation": ("fcn_resnet50", "put a head of your own"),
    "models.video": ("r3d_18", "Conv3d"),
    "transforms": ("AutoAugment", "use RandomApply, RandomChoice and RandomOrder"),
}


@pytest.mark.parametrize("module", UNBUILT)
def test_what_is_not_built_says_what_to_use(module):
    name, instead = UNBUILT[module]
    found = importlib.import_module(f"vistorch.vision.{module}")
    assert name in dir(found)
    with pytest.raises(NotImplementedError, match=instead):
        getattr(found, name)()
    assert module.split(".")[0] != "models" or getattr(models, module.split(".")[1]) is found


def test_what_prepares_a_picture():
    prepare = models.ResNet50_Weights.IMAGENET1K_V2.transforms()
    assert (
        prepare.crop_size == [224] and prepare.resize_size == [232] and models.ResNet50_Weights.DEFAULT.meta
    )
    out = prepare(vistorch.full((3, 300, 400), 255, dtype=vistorch.uint8))
    assert out.shape == (3, 224, 224)
    np.testing.assert_allclose(
        out[:, 0, 0], [(1 - 0.485) / 0.229, (1 - 0.456) / 0.224, (1 - 0.406) / 0.225], rtol=1e-5
    )
    assert models.VGG16_Weights.IMAGENET1K_FEATURES.transforms().std == [1 / 255] * 3


def test_arguments_that_make_no_network():
    with pytest.raises(ValueError, match="'groups' expected value 32 but got 4 instead"):
        models.resnext50_32x4d(groups=4)
    with pytest.raises(ValueError, match="should be None or a 3-element tuple, got \\[True\\]"):
        models.resnet50(replace_stride_with_dilation=[True])
    with pytest.raises(ValueError, match="BasicBlock only supports groups=1 and base_width=64"):
        models.resnet18(groups=2)
    with pytest.raises(NotImplementedError, match="Dilation > 1 not supported in BasicBlock"):
        models.resnet18(replace_stride_with_dilation=[True, True, True])
    with pytest.raises(ValueError, match="size must be at least 16, got 12"):
        models.LeNet(size=12)
    with pytest.raises(ValueError, match="Unsupported SqueezeNet version 2_0"):
        models.SqueezeNet("2_0")
    with pytest.raises(AssertionError, match="Wrong image width! Expected 16 but got 24!"):
        models.VisionTransformer(16, 8, 1, 2, 8, 16)(vistorch.zeros(1, 3, 16, 24))
    with pytest.raises(AssertionError, match="Input shape indivisible by patch size!"):
        models.VisionTransformer(20, 8, 1, 2, 8, 16)
    with pytest.raises(ValueError, match="block 1 is not divisible by partition size 2"):
        models.MaxVit((24, 24), 8, 2, [8, 16], [1, 1], 4, 0.2)
    with pytest.raises(ValueError, match="Invalid RegNet settings"):
        models.regnet.BlockParams.from_init_params(13, 20, 36.0, 2.5, 8)
    with pytest.raises(ValueError, match="expected stages_repeats as list of 3 positive ints"):
        models.ShuffleNetV2([1], [8, 16, 32, 64, 128])
    with pytest.raises(ValueError, match=r"alpha should be greater than 0.0 instead of 0"):
        models.MNASNet(0)
    for make in (models.ConvNeXt, models.EfficientNet, models.MobileNetV3):
        with pytest.raises(ValueError, match="setting should not be empty"):
            make([], 0.2)
        with pytest.raises(TypeError, match="setting should be List"):
            make([3], 0.2)
    with pytest.raises(ValueError, match="already registered under the name 'lenet'"):
        models.register_model()(models.lenet)


def test_lenet_for_grey_pictures():
    network = models.lenet(in_channels=1, size=28, num_classes=4)
    assert network(vistorch.zeros(2, 1, 28, 28)).shape == (2, 4)
