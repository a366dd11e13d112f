"""CIFAR-10 and CIFAR-100, read from the files their makers publish for Python.

Invariant: `data` is (N, 32, 32, 3) uint8 and `targets` a list of N class numbers; every file is checked before it is
read, and read as data only.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .checksums import fault_of
from .pickles import load_pickle
from .utils import download_and_extract_archive
from .vision import VisionDataset


class CIFAR10(VisionDataset):
    """Small colour photographs of ten kinds of things: 50,000 to train with and 10,000 to test with.

    Args:
        root: the folder that holds `cifar-10-batches-py`, or will after the download.
        train: the training pictures, or the test pictures.
        transform: takes a PIL image, returns it transformed.
        target_transform: takes a class number.
        download: fetch the files if they are not there.

    Example:
        >>> import tempfile
        >>> from vistorch.vision import datasets
        >>> with tempfile.TemporaryDirectory() as empty:
        ...     datasets.CIFAR10(empty)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        RuntimeError: Dataset not found or corrupted. You can use download=True to download it (...)
    """

    base_folder = "cifar-10-batches-py"
    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    filename = "cifar-10-python.tar.gz"
    tgz_md5 = "c58f30108f718f92721af3b95e74349a"
    train_list: ClassVar = [
        ["data_batch_1", "c99cafc152244af753f735de768cd75f"],
        ["data_batch_2", "d4bba439e000b95fd0a9bffe97cbabec"],
        ["data_batch_3", "54ebc095f3ab1f0389bbae665268c751"],
        ["data_batch_4", "634d18415352ddfa80567beed471001a"],
        ["data_batch_5", "482c414d41f54cd18b22e5b47cb7c3cb"],
    ]
    test_list: ClassVar = [["test_batch", "40351d587109b95175f43aff81a1287e"]]
    meta: ClassVar = {
        "filename": "batches.meta",
        "key": "label_names",
        "md5": "5ff9c542aee3614f3951f8cda6e48888",
    }

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
        else:
            fault = self._fault()
            if fault is not None:
                raise RuntimeError(
                    f"Dataset not found or corrupted. You can use download=True to download it ({fault})"
                )
        parts = [self._read(name) for name, _ in (self.train_list if train else self.test_list)]
        self.data: np.ndarray = np.concatenate([data for data, _ in parts])
        self.targets: list[int] = [target for _, targets in parts for target in targets]
        self._load_meta()

    def _place(self, name: str) -> str:
        """Where one of the unpacked files is."""
        return os.path.join(self.root, self.base_folder, name)

    def _read(self, name: str) -> tuple[np.ndarray, list[int]]:
        """The pictures and class numbers of one file."""
        path = self._place(name)
        entry = load_pickle(path)
        entry = entry if isinstance(entry, dict) else {}
        data, targets = entry.get("data"), entry.get("labels", entry.get("fine_labels"))
        if not (
            isinstance(data, np.ndarray)
            and data.dtype == np.uint8
            and data.ndim == 2
            and data.shape[1] == 3072
        ):
            raise RuntimeError(f"{path} holds no pictures: 'data' should be an array of bytes, 3072 in a row")
        if not (
            isinstance(targets, list) and len(targets) == len(data) and all(type(t) is int for t in targets)
        ):
            raise RuntimeError(f"{path} does not hold one class number for each of its {len(data)} pictures")
        return data.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), targets

    def _load_meta(self) -> None:
        """Read the names of the classes."""
        path = self._place(self.meta["filename"])
        fault = fault_of(path, self.meta["md5"])
        if fault is not None:
            raise RuntimeError(
                "Dataset metadata file not found or corrupted. You can use download=True to download it "
                f"({fault})"
            )
        found = load_pickle(path)
        names = found.get(self.meta["key"]) if isinstance(found, dict) else None
        if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise RuntimeError(f"{path} holds no list of names under {self.meta['key']!r}")
        self.classes: list[str] = names
        self.class_to_idx = {name: number for number, name in enumerate(names)}

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        """A picture, as a PIL image, and its class number.

        Args:
            index: from 0 on.
        """
        from PIL import Image

        return self._transformed(Image.fromarray(self.data[index]), self.targets[index])

    def __len__(self) -> int:
        return len(self.data)

    def _fault(self) -> str | None:
        """What is wrong with the first bad file; None if all are there and right."""
        for name, md5 in self.train_list + self.test_list:
            fault = fault_of(self._place(name), md5)
            if fault is not None:
                return fault
        return None

    def _check_integrity(self) -> bool:
        """Whether all files are there and right."""
        return self._fault() is None

    def download(self) -> None:
        """Fetch and unpack the files; do nothing if they are there.

        Example:
            >>> from vistorch.vision import datasets
            >>> class Mirror(datasets.CIFAR10):
            ...     url = "http://example.org/cifar-10-python.tar.gz"
            >>> Mirror("nowhere", download=True)
            Traceback (most recent call last):
                ...
            ValueError: Only https addresses are downloaded from, not 'http://example.org/cifar-10-python.tar.gz'
        """
        if self._fault() is None:
            return
        download_and_extract_archive(self.url, self.root, filename=self.filename, md5=self.tgz_md5)
        fault = self._fault()
        if fault is not None:
            raise RuntimeError(f"{os.path.join(self.root, self.filename)} was unpacked, and {fault}")

    def extra_repr(self) -> str:
        """Which half."""
        return f"Split: {'Train' if self.train is True else 'Test'}"


class CIFAR100(CIFAR10):
    """Small colour photographs of a hundred kinds of things: 50,000 to train with and 10,000 to test with.

    Args:
        root: the folder that holds `cifar-100-python`, or will after the download.
        train: the training pictures, or the test pictures.
        transform: takes a PIL image, returns it transformed.
        target_transform: takes a class number.
        download: fetch the files if they are not there.

    Example:
        >>> import tempfile
        >>> from vistorch.vision import datasets
        >>> with tempfile.TemporaryDirectory() as empty:
        ...     datasets.CIFAR100(empty)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        RuntimeError: Dataset not found or corrupted. You can use download=True to download it (...)
    """

    base_folder = "cifar-100-python"
    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    filename = "cifar-100-python.tar.gz"
    tgz_md5 = "eb9058c3a382ffc7106e4002c42a8d85"
    train_list: ClassVar = [["train", "16019d7e3df5f24257cddd939b257f8d"]]
    test_list: ClassVar = [["test", "f0ef6b0ae62326f3e7ffdfab6717acfc"]]
    meta: ClassVar = {
        "filename": "meta",
        "key": "fine_label_names",
        "md5": "7973b15100ade9c7d40fb424638fde48",
    }
