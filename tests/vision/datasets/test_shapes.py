"""Shapes: the same pictures everywhere, and a task that is neither trivial nor hopeless."""

import hashlib
import inspect
import pickle
import time

import numpy as np
import pytest

import vistorch
from vistorch.vision.datasets import CIFAR10, Shapes
from vistorch.vision.datasets.outlines import OUTLINES
from vistorch.vision.datasets.painting import Chance, mixed, turned
from vistorch.vision.models import lenet


def test_form():
    train, test = Shapes(), Shapes(train=False)
    assert (len(train), len(test)) == (50_000, 10_000), "known before anything is drawn"
    assert train._drawn is None
    shapes = Shapes(length=40, transform=np.asarray, target_transform=str)
    assert (
        shapes.data.shape == (40, 32, 32, 3)
        and shapes.data.dtype == np.uint8
        and shapes.data.flags.c_contiguous
    )
    assert type(shapes.targets) is list and all(type(target) is int for target in shapes.targets)
    assert shapes.classes == "circle square triangle star cross ring heart arrow moon flower".split()
    assert shapes.class_to_idx == {name: k for k, name in enumerate(shapes.classes)}
    np.testing.assert_array_equal(shapes[7][0], shapes.data[7])
    assert shapes[7][1] == str(shapes.targets[7])
    image, target = Shapes(length=3)[1]
    assert image.mode == "RGB" and image.size == (32, 32) and type(target) is int
    with pytest.raises(IndexError):
        shapes[40]
    assert repr(Shapes("data", train=False)) == (
        "Dataset Shapes\n    Number of datapoints: 10000\n    Root location: data\n    Split: Test"
    )
    for name in ("root", "train", "transform", "target_transform", "download"):  # takes the place of CIFAR10
        assert name in inspect.signature(Shapes).parameters and name in inspect.signature(CIFAR10).parameters


def test_the_same_on_every_machine():
    """The hash was computed once; another machine, numpy or number of pictures at once must give it again."""
    digests = [
        hashlib.sha256(Shapes(length=300, **arguments).data.tobytes()).hexdigest()[:16]
        for arguments in ({}, {"train": False}, {"seed": 1}, {"seed": -5}, {"size": 20})
    ]
    assert digests == DIGESTS


DIGESTS = ["ed582831631fa9d0", "9a68844acb794d39", "2c0fde7a26b6ae5c", "6e99c7243be98906", "d85aaa2b6dc762d6"]


def test_a_short_set_is_the_beginning_of_a_long_one(monkeypatch):
    long = Shapes(length=1000)
    for length in (0, 1, 9, 333):
        short = Shapes(length=length)
        np.testing.assert_array_equal(short.data, long.data[:length])
        assert short.targets == long.targets[:length]
    monkeypatch.setattr("vistorch.vision.datasets.painting.TOGETHER", 7)
    np.testing.assert_array_equal(Shapes(length=1000).data, long.data)


def test_classes_are_balanced_and_mixed():
    targets = np.array(Shapes(length=5000).targets)
    assert np.bincount(targets).tolist() == [500] * 10
    for place in range(10):
        assert len(set(targets[place::10].tolist())) == 10, "no place in a block of ten belongs to a class"
    assert len({tuple(block) for block in targets.reshape(-1, 10).tolist()}) == 500


def test_no_picture_twice():
    many = np.concatenate(
        [Shapes(length=3000).data, Shapes(train=False, length=3000).data, Shapes(length=3000, seed=1).data]
    )
    assert len({picture.tobytes() for picture in many}) == 9000


def test_colours_give_no_class_away():
    """The mean colours of the classes are alike: the shape must be seen."""
    shapes = Shapes(length=10_000)
    targets = np.array(shapes.targets)
    means = np.array([shapes.data[targets == k].mean((0, 1, 2)) for k in range(10)])
    assert means.std(0).max() < 3 and 90 < means.mean() < 160
    features = shapes.data.mean((1, 2)) - 128
    features = np.concatenate([features, features**2, np.ones((10_000, 1))], 1)
    weights = np.linalg.lstsq(features[:8000], np.eye(10)[targets[:8000]], rcond=None)[0]
    assert ((features[8000:] @ weights).argmax(1) == targets[8000:]).mean() < 0.16


def test_a_linear_layer_does_not_solve_it():
    shapes = Shapes(length=6000, size=16)
    x, y = shapes.data.reshape(6000, -1) / np.float32(255) - np.float32(0.5), np.array(shapes.targets)
    gram = x[:5000].T @ x[:5000] + 100 * np.eye(x.shape[1], dtype=np.float32)
    weights = np.linalg.solve(gram, x[:5000].T @ (np.eye(10)[y[:5000]] - 0.1))
    assert ((x[5000:] @ weights).argmax(1) == y[5000:]).mean() < 0.3


def test_lenet_learns_it():
    """A few pictures and a quick optimizer: well above chance, and short of perfect."""
    train, test = Shapes(length=6000), Shapes(train=False, length=2000)

    def tensors(shapes):
        pictures = np.ascontiguousarray(shapes.data.transpose(0, 3, 1, 2))
        return (vistorch.from_numpy(pictures).float() / 255 - 0.5) / 0.5, vistorch.tensor(shapes.targets)

    (x, y), (unseen, truth) = tensors(train), tensors(test)
    vistorch.manual_seed(0)
    network = lenet()
    optimizer = vistorch.optim.Adam(network.parameters(), lr=0.003)
    for _ in range(5):
        for chosen in vistorch.randperm(len(train)).split(32):
            optimizer.zero_grad()
            vistorch.nn.functional.cross_entropy(network(x[chosen]), y[chosen]).backward()
            optimizer.step()
    with vistorch.no_grad():
        accuracy = (network(unseen).argmax(1) == truth).float().mean().item()
    assert 0.6 < accuracy < 0.9


def test_quick():
    start = time.process_time()
    assert len(Shapes(length=5000).data) == 5000
    assert time.process_time() - start < 3, "50,000 take ten times as long"


def test_what_a_person_changes_stays():
    shapes = Shapes(length=30)
    shapes.data = shapes.data[:10]
    shapes.targets = shapes.targets[:10]
    assert len(shapes) == 10 and len(shapes.targets) == 10
    again = pickle.loads(pickle.dumps(shapes))
    np.testing.assert_array_equal(again.data, shapes.data)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"size": 7}, "size must be a whole number from 8 on, got 7"),
        ({"size": 32.0}, "size must be a whole number from 8 on, got 32.0"),
        ({"length": -1}, "length must be a whole number from 0 on, got -1"),
        ({"length": True}, "length must be a whole number from 0 on, got True"),
        ({"seed": "x"}, "seed must be a whole number, got 'x'"),
    ],
)
def test_refusals(arguments, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        Shapes(**arguments)


@pytest.mark.parametrize("name", OUTLINES)
def test_outlines_are_distances(name):
    """Inside negative, outside positive, nowhere steeper than a distance, and all in the picture."""
    line = np.linspace(-1.5, 1.5, 301, dtype=np.float32)
    x, y = np.meshgrid(line, line)
    field = OUTLINES[name](x, y)
    assert field.dtype == np.float32 and np.isfinite(field).all()
    slope = max(np.abs(np.diff(field, axis=k)).max() for k in (0, 1)) / 0.01
    assert slope < 1.05
    assert 0.3 < (field < 0).sum() * 1e-4 < 2.4 and not (field[(x * x + y * y) > 1.3] < 0).any()


def test_outlines_look_like_their_names():
    def inside(name, x, y):
        return bool(OUTLINES[name](np.float32([x]), np.float32([y]))[0] < 0)

    assert inside("circle", 0.5, 0.5) and not inside("circle", 0.7, 0.7)
    assert inside("square", 0.68, 0.68) and not inside("square", 0.8, 0)
    assert inside("triangle", 0, -0.7) and not inside("triangle", 0.5, -0.5) and inside("triangle", 0.6, 0.6)
    for k in range(5):  # points at the top and every 72 degrees, notches between
        angle = 2 * np.pi * k / 5
        assert inside("star", 0.9 * np.sin(angle), -0.9 * np.cos(angle))
        assert not inside("star", 0.5 * np.sin(angle + np.pi / 5), -0.5 * np.cos(angle + np.pi / 5))
        assert inside("flower", 0.6 * np.sin(angle), -0.6 * np.cos(angle))
        assert not inside("flower", 0.75 * np.sin(angle + np.pi / 5), -0.75 * np.cos(angle + np.pi / 5))
    assert inside("cross", 0.8, 0) and inside("cross", 0, -0.8) and not inside("cross", 0.5, 0.5)
    assert not inside("ring", 0, 0) and inside("ring", 0.6, 0) and not inside("ring", 0.9, 0)
    assert inside("heart", 0.35, -0.6) and not inside("heart", 0, -0.75) and inside("heart", 0, 0.65)
    assert inside("arrow", 0.8, 0) and inside("arrow", -0.8, 0.1) and not inside("arrow", -0.5, 0.4)
    assert not inside("moon", 0.4, 0) and inside("moon", -0.6, 0) and inside("moon", 0, -0.75)


def test_chance():
    chance = Chance(0, True, np.arange(50_000))
    for what in (1, 2, 99):
        share = chance.between(what, 0, 1).ravel()
        assert (
            share.dtype == np.float32 and abs(share.mean() - 0.5) < 0.01 and abs(share.var() - 1 / 12) < 0.003
        )
        assert np.bincount(chance.below(what, 7)).min() > 6800
    assert abs(np.corrcoef(chance.between(1, 0, 1).ravel(), chance.between(2, 0, 1).ravel())[0, 1]) < 0.02
    bits = mixed(np.arange(1000, dtype=np.uint64)) ^ mixed(np.arange(1000, dtype=np.uint64) ^ np.uint64(1))
    assert abs(np.unpackbits(bits.view(np.uint8)).mean() - 0.5) < 0.02, "one bit changes half of the bits"


def test_turned():
    angle = np.linspace(-2, 2, 401).astype(np.float32)
    cosine, sine = turned(angle)
    np.testing.assert_allclose(cosine, np.cos(angle), atol=2e-4)
    np.testing.assert_allclose(sine, np.sin(angle), atol=2e-3)
