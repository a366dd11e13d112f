"""Pictures in folders."""

import numpy as np
import pytest

from vistorch.vision.datasets import DatasetFolder, ImageFolder
from vistorch.vision.datasets.folder import (
    default_loader,
    find_classes,
    has_file_allowed_extension,
    is_image_file,
    make_dataset,
)


@pytest.fixture
def root(tmp_path):
    from PIL import Image

    for k, name in enumerate(["b/2.PNG", "b/1.jpg", "a/sub/x.png", "a/y.webp", "a/notes.txt", "top.png"]):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".txt"):
            path.write_text("x")
        else:
            mode = "L" if name.startswith("b/2") else "RGB"
            Image.new(mode, (4 + k, 3), 40 * k if mode == "L" else (40 * k, 0, 9)).save(path)
    return tmp_path


def test_image_folder(root):
    images = ImageFolder(root, transform=np.asarray, target_transform=lambda t: t + 10)
    assert images.classes == ["a", "b"] and images.class_to_idx == {"a": 0, "b": 1}
    expected = [("a/y.webp", 0), ("a/sub/x.png", 0), ("b/1.jpg", 1), ("b/2.PNG", 1)]
    assert images.imgs == images.samples == [(str(root / name), target) for name, target in expected]
    assert images.targets == [0, 0, 1, 1] and len(images) == 4
    picture, target = images[1]
    assert picture.shape == (3, 6, 3) and picture[0, 0].tolist() == [80, 0, 9] and target == 10
    assert images[3][0].shape == (3, 4, 3), "grey becomes RGB"
    assert repr(ImageFolder(str(root))) == (
        f"Dataset ImageFolder\n    Number of datapoints: 4\n    Root location: {root}"
    )
    assert images.loader is default_loader and images.extensions[0] == ".jpg"


def test_is_valid_file_and_loader(root):
    texts = DatasetFolder(root, str.upper, is_valid_file=lambda path: path.endswith(".txt"), allow_empty=True)
    assert texts.samples == [(str(root / "a" / "notes.txt"), 0)] and texts.extensions is None
    assert texts[0] == (str(root / "a" / "notes.txt").upper(), 0)
    assert ImageFolder(root, is_valid_file=lambda path: path.endswith(("x.png", "1.jpg"))).targets == [0, 1]


def test_own_classes(root):
    class Only(ImageFolder):
        def find_classes(self, directory):
            return ["b"], {"b": 0}

    assert Only(root).targets == [0, 0]


def test_empty_classes(root):
    (root / "none").mkdir()
    (root / "also").mkdir()
    with pytest.raises(FileNotFoundError) as caught:
        ImageFolder(root)
    assert str(caught.value) == (
        "Found no valid file for the classes also, none. Supported extensions are: .jpg, .jpeg, .png, .ppm, .bmp, .pgm"
        ", .tif, .tiff, .webp"
    )
    assert ImageFolder(root, allow_empty=True).targets == [0, 0, 2, 2]
    with pytest.raises(FileNotFoundError, match=r"^Found no valid file for the classes also, none. $"):
        ImageFolder(root, is_valid_file=is_image_file)


def test_refusals(root, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^Couldn't find any class folder in .*a/sub\.$"):
        find_classes(root / "a" / "sub")
    with pytest.raises(FileNotFoundError):
        ImageFolder(root / "nowhere")
    sentence = "^Both extensions and is_valid_file cannot be None or not None at the same time$"
    with pytest.raises(ValueError, match=sentence):
        DatasetFolder(root, str)
    with pytest.raises(ValueError, match=sentence):
        make_dataset(root, extensions=".png", is_valid_file=is_image_file)
    with pytest.raises(
        ValueError, match=r"^'class_to_index' must have at least one entry to collect any samples.$"
    ):
        make_dataset(root, {}, extensions=".png")
    with pytest.raises(ValueError, match=r"^The class_to_idx parameter cannot be None\.$"):
        DatasetFolder.make_dataset(root, None)


def test_make_dataset(root):
    assert make_dataset(root, extensions=(".txt", ".jpg")) == [
        (str(root / "a" / "notes.txt"), 0),
        (str(root / "b" / "1.jpg"), 1),
    ]
    assert make_dataset(str(root), {"b": 7}, ".png") == [(str(root / "b" / "2.PNG"), 7)]
    assert has_file_allowed_extension("A.PNG", ".png") and not has_file_allowed_extension(
        "a.gif", (".png", ".jpg")
    )
