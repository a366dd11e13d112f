"""Pictures: data sets, networks and transforms, under torchvision's names."""

from . import transforms
