"""Training on a device with autocast and a scaler ends where float32 on the CPU does; and the fuzz there."""

import numpy as np
import pytest

import vistorch
from tests.fuzz.devices import On
from tests.fuzz.machine import BAD
from tests.fuzz.run import fuzz
from vistorch import cuda, nn


class LeNet(nn.Module):
    """Two convolutions and three layers."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.rest = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 10))

    def forward(self, x):
        x = nn.functional.max_pool2d(self.first(x).relu(), 2)
        x = nn.functional.avg_pool2d(self.second(x).relu(), 2)
        return self.rest(x.flatten(1))


class GPT(nn.Module):
    """One block over a few letters."""

    def __init__(self, letters=12, length=8, width=16):
        super().__init__()
        self.letters, self.places = nn.Embedding(letters, width), nn.Embedding(length, width)
        self.block = nn.TransformerEncoderLayer(
            width, 2, 32, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, letters, bias=False)

    def forward(self, x):
        n = x.shape[1]
        h = self.letters(x) + self.places(vistorch.arange(n, device=x.device))
        later = nn.Transformer.generate_square_subsequent_mask(n, device=x.device)
        return self.head(self.norm(self.block(h, src_mask=later, is_causal=True))).flatten(0, 1)


def data(name):
    rng = np.random.default_rng(0)
    if name == "GPT":
        text = (np.arange(9)[None] * rng.integers(1, 4, (8, 1)) + rng.integers(0, 12, (8, 1))) % 12
        return vistorch.tensor(text[:, :-1]), vistorch.tensor(text[:, 1:].reshape(-1))
    labels = rng.integers(0, 10, 16)
    images = rng.standard_normal((10, 1, 12, 12))[labels] + rng.standard_normal((16, 1, 12, 12)) * 0.3
    return vistorch.tensor(images).float(), vistorch.tensor(labels)


def losses(name, device, dtype, steps=12):
    """The losses of a training, in the type of an autocast region or in float32."""
    vistorch.manual_seed(0)
    model = {"LeNet": LeNet, "GPT": GPT}[name]().to(device)
    optimizer = vistorch.optim.AdamW(model.parameters(), lr=0.01)
    kind = device.partition(":")[0]
    scaler = vistorch.amp.GradScaler(kind, init_scale=1024.0, enabled=dtype == "float16")
    x, y = (t.to(device) for t in data(name))
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        with vistorch.autocast(kind, getattr(vistorch, dtype or "bfloat16"), enabled=dtype is not None):
            out = model(x)
            loss = nn.functional.cross_entropy(out, y)
        assert out.dtype is getattr(vistorch, dtype or "float32")
        assert loss.dtype is vistorch.float32
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        scaler.step(optimizer)
        scaler.update()
        found.append(loss.item())
    return found


def check(name, dtype):
    """Both end near each other, far below where they began."""
    expected, found = losses(name, "cpu", None), losses(name, "cuda:0", dtype)
    assert expected[-1] < 0.75 * expected[0]
    assert np.allclose(found, expected, rtol=0.1)


CASES = [(name, dtype) for name in ("LeNet", "GPT") for dtype in ("float16", "bfloat16", None)]


@pytest.mark.parametrize("name, dtype", CASES)
def test_simulated(name, dtype):
    cuda.simulate(1)
    check(name, dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_over_the_stand_in(strict_gpu, dtype):
    """Nothing in a whole step mixes arrays or calls what cupy has not."""
    found = losses("LeNet", "cuda:0", dtype, 3)
    assert np.allclose(found, losses("LeNet", "cpu", None, 3), rtol=0.05)


def test_programs_on_a_simulated_device():
    cuda.simulate(1)
    there = On("cuda")
    with there.planted():
        assert there.zeros(2).is_cuda
    seeds, failures = fuzz("device:cuda", 20)
    assert not [verdict for verdict in BAD if verdict in seeds], failures
    assert len(seeds["same"]) > 3
