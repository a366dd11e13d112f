"""Pictures in folders named after their classes.

Invariant: classes and files come in sorted order, so that numbers mean the same on every machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..pictures import opened_picture
from .vision import VisionDataset

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def has_file_allowed_extension(filename: str, extensions: str | tuple[str, ...]) -> bool:
    """Whether a name ends in one of some endings, in small letters or capitals.

    Args:
        filename: the name.
        extensions: endings in small letters.
    """
    return filename.lower().endswith(extensions if isinstance(extensions, str) else tuple(extensions))


def is_image_file(filename: str) -> bool:
    """Whether a name ends as a picture's does.

    Args:
        filename: the name.
    """
    return has_file_allowed_extension(filename, IMG_EXTENSIONS)


def find_classes(directory: str | os.PathLike) -> tuple[list[str], dict[str, int]]:
    """The folders in a folder, sorted, and their numbers.

    Args:
        directory: where to look.
    """
    with os.scandir(directory) as entries:
        classes = sorted(entry.name for entry in entries if entry.is_dir())
    if not classes:
        raise FileNotFoundError(f"Couldn't find any class folder in {directory}.")
    return classes, {name: number for number, name in enumerate(classes)}


def make_dataset(
    directory: str | os.PathLike,
    class_to_idx: dict[str, int] | None = None,
    extensions: str | tuple[str, ...] | None = None,
    is_valid_file: Callable[[str], bool] | None = None,
    allow_empty: bool = False,
) -> list[tuple[str, int]]:
    """The paths of all files of all classes, each with its class number.

    Args:
        directory: the folder of the class folders.
        class_to_idx: the number of each class; every folder is a class if None.
        extensions: the endings of the files wanted.
        is_valid_file: takes a path, says whether it is wanted; instead of `extensions`.
        allow_empty: whether a class may have no file.
    """
    directory = os.path.expanduser(directory)
    if class_to_idx is None:
        class_to_idx = find_classes(directory)[1]
    elif not class_to_idx:
        raise ValueError("'class_to_index' must have at least one entry to collect any samples.")
    if (extensions is None) == (is_valid_file is None):
        raise ValueError("Both extensions and is_valid_file cannot be None or not None at the same time")
    wanted = is_valid_file or (lambda path: has_file_allowed_extension(path, extensions or ()))
    found, empty = [], []
    for name in sorted(class_to_idx):
        before = len(found)
        for folder, _, files in sorted(os.walk(os.path.join(directory, name), followlinks=True)):
            paths = (os.path.join(folder, file) for file in sorted(files))
            found.extend((path, class_to_idx[name]) for path in paths if wanted(path))
        if len(found) == before:
            empty.append(name)
    if empty and not allow_empty:
        sentence = f"Found no valid file for the classes {', '.join(empty)}. "
        if extensions is not None:
            known = extensions if isinstance(extensions, str) else ", ".join(extensions)
            sentence += f"Supported extensions are: {known}"
        raise FileNotFoundError(sentence)
    return found


class DatasetFolder(VisionDataset):
    """Files in folders named after their classes: `root/class/file`.

    Args:
        root: the folder of the class folders.
        loader: takes a path, returns a sample.
        extensions: the endings of the files wanted.
        transform: takes a sample, returns it transformed.
        target_transform: takes a class number.
        is_valid_file: takes a path, says whether it is wanted; instead of `extensions`.
        allow_empty: whether a class may have no file.

    Example:
        >>> import os, tempfile
        >>> from pathlib import Path
        >>> from vistorch.vision import datasets
        >>> with tempfile.TemporaryDirectory() as root:
        ...     for name in ("no", "yes"):
        ...         os.mkdir(os.path.join(root, name))
        ...         _ = Path(root, name, "1.txt").write_text(name * 2)
        ...     samples = datasets.DatasetFolder(root, lambda path: Path(path).read_text(), (".txt",))
        ...     samples.classes, samples[1]
        ...     samples.find_classes(root)
        ...     found = samples.make_dataset(root, class_to_idx={"yes": 7}, extensions=(".txt",))
        (['no', 'yes'], ('yesyes', 1))
        (['no', 'yes'], {'no': 0, 'yes': 1})
        >>> [(Path(path).parts[-2:], target) for path, target in found]  # the folder `no` is no class of these
        [(('yes', '1.txt'), 7)]
    """

    def __init__(
        self,
        root: str | os.PathLike,
        loader: Callable[[str], Any],
        extensions: tuple[str, ...] | None = None,
        transform: Callable | None = None,
        target_transform: Callable | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
        allow_empty: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        classes, class_to_idx = self.find_classes(self.root)
        self.loader = loader
        self.extensions = extensions
        self.classes = classes
        self.class_to_idx = class_to_idx
        self.samples = self.make_dataset(
            self.root,
            class_to_idx=class_to_idx,
            extensions=extensions,
            is_valid_file=is_valid_file,
            allow_empty=allow_empty,
        )
        self.targets = [target for _, target in self.samples]

    @staticmethod
    def make_dataset(
        directory: str | os.PathLike,
        class_to_idx: dict[str, int],
        extensions: tuple[str, ...] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
        allow_empty: bool = False,
    ) -> list[tuple[str, int]]:
        """The samples: what a subclass may find in its own way.

        Args:
            directory: the folder of the class folders.
            class_to_idx: the number of each class.
            extensions: the endings of the files wanted.
            is_valid_file: takes a path, says whether it is wanted; instead of `extensions`.
            allow_empty: whether a class may have no file.
        """
        if class_to_idx is None:
            raise ValueError("The class_to_idx parameter cannot be None.")
        return make_dataset(
            directory,
            class_to_idx,
            extensions=extensions,
            is_valid_file=is_valid_file,
            allow_empty=allow_empty,
        )

    def find_classes(self, directory: str | os.PathLike) -> tuple[list[str], dict[str, int]]:
        """The classes and their numbers: what a subclass may decide in its own way.

        Args:
            directory: the folder of the class folders.
        """
        return find_classes(directory)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        """A sample and its class number.

        Args:
            index: from 0 on.
        """
        path, target = self.samples[index]
        return self._transformed(self.loader(path), target)

    def __len__(self) -> int:
        return len(self.samples)


def pil_loader(path: str | os.PathLike) -> Any:
    """A picture file as an RGB image of Pillow.

    Args:
        path: the file.

    Raises:
        RuntimeError: it is damaged, or is no picture.
    """
    with open(path, "rb") as file, opened_picture(file) as image:
        return image.convert("RGB")


def default_loader(path: str | os.PathLike) -> Any:
    """What `ImageFolder` reads pictures with: `pil_loader`.

    Args:
        path: the file.
    """
    return pil_loader(path)


class ImageFolder(DatasetFolder):
    """Pictures in folders named after their classes: `root/dog/1.png`, `root/cat/2.png`.

    Args:
        root: the folder of the class folders.
        transform: takes a PIL image, returns it transformed.
        target_transform: takes a class number.
        loader: takes a path, returns a picture.
        is_valid_file: takes a path, says whether it is wanted; by its ending if None.
        allow_empty: whether a class may have no file.

    Example:
        >>> import os, tempfile
        >>> from PIL import Image
        >>> from vistorch.vision import datasets
        >>> with tempfile.TemporaryDirectory() as root:
        ...     for name in ("cat", "dog"):
        ...         os.mkdir(os.path.join(root, name))
        ...         Image.new("RGB", (4, 2)).save(os.path.join(root, name, "1.png"))
        ...     pets = datasets.ImageFolder(root)
        ...     image, target = pets[1]
        >>> image.size, pets.classes[target]
        ((4, 2), 'dog')
    """

    def __init__(
        self,
        root: str | os.PathLike,
        transform: Callable | None = None,
        target_transform: Callable | None = None,
        loader: Callable[[str], Any] = default_loader,
        is_valid_file: Callable[[str], bool] | None = None,
        allow_empty: bool = False,
    ) -> None:
        super().__init__(
            root,
            loader,
            IMG_EXTENSIONS if is_valid_file is None else None,
            transform=transform,
            target_transform=target_transform,
            is_valid_file=is_valid_file,
            allow_empty=allow_empty,
        )
        self.imgs = self.samples
