"""The base of the data sets: transforms and the printed form."""

import pytest

from vistorch.utils.data import Dataset
from vistorch.vision.datasets import FakeData, VisionDataset
from vistorch.vision.datasets.vision import StandardTransform


class Two(VisionDataset):
    def __len__(self):
        return 2

    def extra_repr(self):
        return "Split: Train\nKind: none"


class Pair:
    def __repr__(self):
        return "Compose(\n    First()\n    Second()\n)"


def test_printed_form():
    assert repr(Two()) == "Dataset Two\n    Number of datapoints: 2\n    Split: Train\n    Kind: none"
    # torchvision indents the first line of the transforms only.
    assert repr(Two("data", transform=Pair(), target_transform=Pair())).split("\n") == [
        "Dataset Two",
        "    Number of datapoints: 2",
        "    Root location: data",
        "    Split: Train",
        "    Kind: none",
        "    StandardTransform",
        "Transform: Compose(",
        "               First()",
        "               Second()",
        "           )",
        "Target transform: Compose(",
        "                      First()",
        "                      Second()",
        "                  )",
    ]
    assert repr(Two(transforms=Pair())).endswith("Kind: none\n    Compose(\n    First()\n    Second()\n)")


def test_transforms():
    both = Two(transform=lambda x: x + 1, target_transform=lambda y: -y)
    assert isinstance(both, Dataset) and type(both.transforms) is StandardTransform
    assert both.transforms(1, 2) == (2, -2) and StandardTransform(None, None)(1, 2) == (1, 2)
    assert Two().transforms is None and Two(transforms=str).transforms is str
    with pytest.raises(
        ValueError, match=r"^Only transforms or transform/target_transform can be passed as argument$"
    ):
        Two(transforms=str, transform=str)
    with pytest.raises(NotImplementedError):
        Two()[0]


def test_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Two("~/x").root == f"{tmp_path}/x" and Two(tmp_path).root is tmp_path


def test_fake_data_prints_no_root():
    assert repr(FakeData(size=3)) == "Dataset FakeData\n    Number of datapoints: 3"
