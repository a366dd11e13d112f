"""MNIST and two data sets of its form.

Invariant: `data` is (N, 28, 28) uint8 and `targets` (N,) int64, both tensors.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

from .checksums import check_integrity
from .fetching import Broken, Unreachable
from .idx import read_image_file, read_label_file
from .utils import download_and_extract_archive
from .vision import VisionDataset


class MNIST(VisionDataset):
    """Handwritten digits: 60,000 to train with and 10,000 to test with.

    Args:
        root: the folder that holds `MNIST/raw/train-images-idx3-ubyte`, or will after the download.
        train: the training pictures, or the test pictures.
        transform: takes a PIL image, returns it transformed.
        target_transform: takes a class number.
        download: fetch the files if they are not there.

    Example:
        >>> import os, struct, tempfile, warnings
        >>> from vistorch.vision import datasets
        >>> with tempfile.TemporaryDirectory() as root:  # one picture, in place of the 60,000
        ...     os.makedirs(os.path.join(root, "MNIST", "raw"))
        ...     for half in ("train", "t10k"):
        ...         with open(os.path.join(root, "MNIST", "raw", f"{half}-images-idx3-ubyte"), "wb") as file:
        ...             _ = file.write(struct.pack(">4i", 2051, 1, 28, 28) + bytes(784))
        ...         with open(os.path.join(root, "MNIST", "raw", f"{half}-labels-idx1-ubyte"), "wb") as file:
        ...             _ = file.write(struct.pack(">2i", 2049, 1) + bytes([7]))
        ...     digits = datasets.MNIST(root)
        ...     digits.download()  # nothing is fetched: all files are there
        >>> image, target = digits[0]
        >>> image.size, target, digits.class_to_idx["7 - seven"]
        ((28, 28), 7, 7)
        >>> [os.path.relpath(folder, root).split(os.sep) for folder in (digits.raw_folder, digits.processed_folder)]
        [['MNIST', 'raw'], ['MNIST', 'processed']]
        >>> with warnings.catch_warnings():  # old names, of which torchvision warns
        ...     warnings.simplefilter("ignore")
        ...     digits.train_data is digits.test_data is digits.data
        ...     digits.train_labels is digits.test_labels is digits.targets
        True
        True
    """

    mirrors: ClassVar = ["https://ossci-datasets.s3.amazonaws.com/mnist/"]
    resources: ClassVar = [
        ("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
        ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
        ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
    ]
    training_file = "training.pt"
    test_file = "test.pt"
    classes: ClassVar = [
        "0 - zero",
        "1 - one",
        "2 - two",
        "3 - three",
        "4 - four",
        "5 - five",
        "6 - six",
        "7 - seven",
        "8 - eight",
        "9 - nine",
    ]

    def __init__(
        self,
        root: str | os.PathLike,
        train: bool = True,
        transform: Callable | None = None,
        target_transform: Callable | None = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        missing = self._missing()
        if missing:
            raise RuntimeError(
                "Dataset not found. You can use download=True to download it "
                f"(there is no file {os.path.join(self.raw_folder, missing[0])})"
            )
        split = "train" if train else "t10k"
        images, labels = (f"{split}-{kind}-ubyte" for kind in ("images-idx3", "labels-idx1"))
        self.data = read_image_file(os.path.join(self.raw_folder, images))
        self.targets = read_label_file(os.path.join(self.raw_folder, labels))
        if len(self.data) != len(self.targets):
            raise RuntimeError(
                f"{self.raw_folder} holds {len(self.data)} pictures in {images} "
                f"but {len(self.targets)} labels in {labels}"
            )

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        """A picture, as a PIL image, and its class number.

        Args:
            index: from 0 on.
        """
        from PIL import Image

        return self._transformed(Image.fromarray(self.data[index].numpy()), int(self.targets[index]))

    def __len__(self) -> int:
        return len(self.data)

    @property
    def raw_folder(self) -> str:
        """Where the files are."""
        return os.path.join(self.root, type(self).__name__, "raw")

    @property
    def processed_folder(self) -> str:
        """Where torchvision once kept tensors; nothing is read from it."""
        return os.path.join(self.root, type(self).__name__, "processed")

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The number of each class."""
        return {name: number for number, name in enumerate(self.classes)}

    def _missing(self) -> list[str]:
        """The unpacked files that are not there."""
        names = [os.path.splitext(name)[0] for name, _ in self.resources]
        return [name for name in names if not check_integrity(os.path.join(self.raw_folder, name))]

    def _check_exists(self) -> bool:
        """Whether all files are there."""
        return not self._missing()

    def download(self) -> None:
        """Fetch and unpack the files that are not there."""
        missing = self._missing()
        for name, md5 in self.resources:
            if os.path.splitext(name)[0] in missing:
                self._fetch(name, md5)

    def _fetch(self, name: str, md5: str) -> None:
        """Fetch and unpack one file from the first mirror that gives it."""
        failures = []
        for mirror in self.mirrors:
            try:
                download_and_extract_archive(mirror + name, self.raw_folder, filename=name, md5=md5)
                return
            except (Unreachable, Broken) as error:
                failures.append(error)
        if len(failures) == 1:
            raise failures[0]
        tried = "; ".join(getattr(error, "reason", str(error)) for error in failures)
        addresses = ", ".join(mirror + name for mirror in self.mirrors)
        raise Unreachable(addresses, tried, os.path.join(self.raw_folder, name))

    def extra_repr(self) -> str:
        """Which half."""
        return f"Split: {'Train' if self.train is True else 'Test'}"

    def _renamed(self, old: str, new: str) -> Any:
        """What an old name stood for."""
        warnings.warn(f"{old} has been renamed {new}", stacklevel=3)
        return getattr(self, new)

    @property
    def train_labels(self) -> Any:
        """An old name of `targets`."""
        return self._renamed("train_labels", "targets")

    @property
    def test_labels(self) -> Any:
        """An old name of `targets`."""
        return self._renamed("test_labels", "targets")

    @property
    def train_data(self) -> Any:
        """An old name of `data`."""
        return self._renamed("train_data", "data")

    @property
    def test_data(self) -> Any:
        """An old name of `data`."""
        return self._renamed("test_data", "data")


class FashionMNIST(MNIST):
    """Pictures of clothes: 60,000 to train with and 10,000 to test with.

    Args:
        root: the folder that holds `FashionMNIST/raw/train-images-idx3-ubyte`, or will after the download.
        train: the training pictures, or the test pictures.
        transform: takes a PIL image, returns it transformed.
        target_transform: takes a class number.
        download: fetch the files if they are not there.

    Example:
        >>> import tempfile
        >>> from vistorch.vision import datasets
        >>> datasets.FashionMNIST.classes[:3]
        ['T-shirt/top', 'Trouser', 'Pullover']
        >>> with tempfile.TemporaryDirectory() as empty:
        ...     datasets.FashionMNIST(empty)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        RuntimeError: Dataset not found. You can use download=True to download it (...)
    """

    # torchvision's own address has no https; these two hold the same files.
    mirrors: ClassVar = [
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
        "https://fashion-mnist.s3.eu-central-1.amazonaws.com/",
    ]
    resources: ClassVar = [
        ("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
        ("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
        ("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
        ("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"),
    ]
    classes: ClassVar = [
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ]


class KMNIST(MNIST):
    """Handwritten Japanese letters: 60,000 to train with and 10,000 to test with.

    Args:
        root: the folder that holds `KMNIST/raw/train-images-idx3-ubyte`, or will after the download.
        train: the training pictures, or the test pictures.
        transform: takes a PIL image, returns it transformed.
        target_transform: takes a class number.
        download: fetch the files if they are not there.

    Example:
        >>> import tempfile
        >>> from vistorch.vision import datasets
        >>> datasets.KMNIST.classes[:3]
        ['o', 'ki', 'su']
        >>> with tempfile.TemporaryDirectory() as empty:
        ...     datasets.KMNIST(empty)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        RuntimeError: Dataset not found. You can use download=True to download it (...)
    """

    mirrors: ClassVar = ["https://codh.rois.ac.jp/kmnist/dataset/kmnist/"]
    resources: ClassVar = [
        ("train-images-idx3-ubyte.gz", "bdb82020997e1d708af4cf47b453dcf7"),
        ("train-labels-idx1-ubyte.gz", "e144d726b3acfaa3e44228e80efcd344"),
        ("t10k-images-idx3-ubyte.gz", "5c965bf0a639b31b8f53240b1b52f4d7"),
        ("t10k-labels-idx1-ubyte.gz", "7320c461ea6c1c855c0b718fb2a4b134"),
    ]
    classes: ClassVar = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]
