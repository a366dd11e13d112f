"""What importing costs: nothing but numpy before a picture is drawn."""

import importlib
import subprocess
import sys

import pytest


def test_nothing_heavy_is_imported():
    program = (
        "import sys, vistorch\n"
        "assert 'vistorch.vision' not in sys.modules\n"
        "vistorch.vision\n"
        "assert not [m for m in sys.modules if m.startswith('vistorch.vision.')]\n"
        "from vistorch.vision import datasets, io, models, utils\n"
        "data = datasets.Shapes(length=3); data.data, data.targets, repr(data), len(data); models.lenet()\n"
        "datasets.MNIST.mirrors, datasets.utils.check_integrity('x')\n"
        "print([m for m in ('PIL', 'tqdm', 'torch', 'scipy', 'matplotlib', 'IPython') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


def test_names():
    import vistorch.vision as vision

    assert {"datasets", "io", "models", "utils"} <= set(dir(vision))
    for name in (
        "CIFAR10",
        "CIFAR100",
        "MNIST",
        "FashionMNIST",
        "KMNIST",
        "ImageFolder",
        "FakeData",
        "Shapes",
    ):
        assert getattr(vision.datasets, name).__name__ == name
    with pytest.raises(AttributeError, match=r"^module 'vistorch\.vision' has no attribute 'nothing'$"):
        importlib.import_module("vistorch.vision").__getattr__("nothing")
