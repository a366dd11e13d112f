"""FakeData gives the pictures that torchvision makes of torch's numbers."""

import numpy as np
import pytest

import vistorch
from vistorch.vision.datasets import FakeData

torch = pytest.importorskip("torch", reason="torch is the reference")


@pytest.mark.parametrize("image_size", [(3, 8, 9), (1, 5, 4), (3, 32, 32)])
def test_the_same_pictures(image_size):
    fake = FakeData(size=5, image_size=image_size, num_classes=7, random_offset=3)
    for index in range(5):
        torch.manual_seed(index + 3)
        noise, target = torch.randn(*image_size), torch.randint(0, 7, size=(1,))[0]
        # torch's own cast of numbers below zero is the last eight bits on every machine it is tested on.
        expected = noise.mul(255).to(torch.int32).to(torch.uint8).permute(1, 2, 0).squeeze(-1).numpy()
        image, found = fake[index]
        assert (
            image.mode == ("L" if image_size[0] == 1 else "RGB")
            and type(found) is int
            and found == target.item()
        )
        # A number that torch rounds to the neighbouring float may cross to the next shade.
        off = (np.asarray(image).astype(int) - expected) % 256
        assert np.isin(off, (0, 1, 255)).all() and (off != 0).mean() < 0.002
    assert len(fake) == 5


def test_the_generator_is_left_alone():
    vistorch.manual_seed(1)
    expected = vistorch.rand(3)
    vistorch.manual_seed(1)
    FakeData(size=1, image_size=(3, 4, 4))[0]
    assert vistorch.rand(3).tolist() == expected.tolist()


def test_end_and_transforms():
    fake = FakeData(size=2, image_size=(3, 4, 4), transform=np.asarray, target_transform=str)
    assert fake[1][0].shape == (4, 4, 3) and type(fake[1][1]) is str
    with pytest.raises(IndexError, match=r"^FakeData index out of range$"):
        fake[2]
