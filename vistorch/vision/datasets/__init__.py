"""Data sets of pictures, under torchvision's names."""

from ..._lazy import unbuilt as _unbuilt
from . import utils
from .cifar import CIFAR10, CIFAR100
from .fakedata import FakeData
from .folder import DatasetFolder, ImageFolder
from .mnist import KMNIST, MNIST, FashionMNIST
from .shapes import Shapes
from .vision import VisionDataset

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "KMNIST",
    "MNIST",
    "DatasetFolder",
    "FakeData",
    "FashionMNIST",
    "ImageFolder",
    "Shapes",
    "VisionDataset",
]

globals().update(_unbuilt("vision.datasets"))
