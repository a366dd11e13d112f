"""Data sets of pictures, under torchvision's names."""

from ...compat.said import unbuilt as _unbuilt
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

_ROOM = "vistorch.vision.datasets"
_FOLDERS = """
    Caltech101 Caltech256 DTD EuroSAT FER2013 FGVCAircraft Flowers102 Food101 GTSRB ImageNet Imagenette INaturalist
    OxfordIIITPet Places365 RenderedSST2 StanfordCars SUN397 Country211
"""
_OTHERS = """
    CLEVRClassification CREStereo CarlaStereo CelebA Cityscapes CocoCaptions CocoDetection ETH3DStereo EMNIST
    FallingThingsStereo Flickr30k Flickr8k FlyingChairs FlyingThings3D HD1K HMDB51 InStereo2k Kinetics Kitti KittiFlow
    Kitti2012Stereo Kitti2015Stereo LFWPairs LFWPeople LSUN LSUNClass Middlebury2014Stereo MovingMNIST Omniglot PCAM
    PhotoTour QMNIST SBDataset SBU SceneFlowStereo SEMEION Sintel SintelStereo STL10 SVHN UCF101 USPS VOCDetection
    VOCSegmentation WIDERFace
"""
globals().update(
    _unbuilt(_ROOM, "extract it, one folder for each class, and read that by ImageFolder.", classes=_FOLDERS)
)
globals().update(_unbuilt(_ROOM, "read its files by a Dataset of your own.", classes=_OTHERS))
