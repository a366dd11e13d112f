"""The pictures of `Shapes`: what each one shows is drawn by hashing its number, then painted many at a time.

Invariant: a picture depends on the seed, the split, its number and the size alone, not on how many are painted
together, the machine or numpy's version.
"""

from __future__ import annotations

import numpy as np

from .outlines import OUTLINES, box, length

TOGETHER = 256  # pictures painted at once: their fields stay in the processor's cache
GOLDEN = 0x9E3779B97F4A7C15
GRAINS = 1 << 18

# Shapes and backgrounds take their colours from the same box, whatever the class.
PAINTS = np.array(
    [
        (231, 76, 60), (243, 156, 18), (247, 220, 111), (46, 174, 96), (26, 188, 156), (52, 152, 219),
        (41, 74, 140), (142, 68, 173), (236, 112, 169), (244, 240, 228), (52, 58, 70), (149, 118, 90),
    ],
    np.float32,
)  # fmt: skip


def mixed(x: np.ndarray) -> np.ndarray:
    """Scatter 64-bit numbers: neighbours come out unrelated."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


class Chance:
    """Random numbers of pictures, by the name of what they decide.

    Args:
        seed: the data set's.
        train: which split.
        index: the pictures' numbers.
    """

    def __init__(self, seed: int, train: bool, index: np.ndarray):
        start = np.array([(seed * 2 + bool(train)) % (1 << 64)], np.uint64)
        self.key = mixed(mixed(start + np.uint64(GOLDEN)) + index.astype(np.uint64) * np.uint64(GOLDEN))

    def whole(self, what: int) -> np.ndarray:
        """A 64-bit number for each picture."""
        return mixed(self.key + np.array([what * 0xD1342543DE82EF95 % (1 << 64)], np.uint64))

    def below(self, what: int, end: int) -> np.ndarray:
        """A whole number from 0 to end - 1 for each picture."""
        return ((self.whole(what) >> np.uint64(32)) * np.uint64(end) >> np.uint64(32)).astype(np.int64)

    def between(self, what: int, low: float, high: float) -> np.ndarray:
        """A number from low to high for each picture, shaped to meet fields of pixels."""
        share = (self.whole(what) >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)
        return (share * np.float32(high - low) + np.float32(low))[:, None, None]


def labels(seed: int, train: bool, count: int) -> np.ndarray:
    """The class of each picture: every ten pictures hold each class once."""
    blocks = -(-count // len(OUTLINES))
    chance = Chance(seed, train, np.arange(blocks))
    keys = np.stack([chance.whole(100 + k) for k in range(len(OUTLINES))], axis=1)
    return np.argsort(keys, axis=1, kind="stable").reshape(-1)[:count]


def turned(angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cosine and sine of an angle between -2 and 2 by their series: a library's own differ in the last digit."""
    square = angle * angle
    cosine = 1 - square / 2 * (1 - square / 12 * (1 - square / 30 * (1 - square / 56 * (1 - square / 90))))
    sine = angle * (1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72))))
    return cosine, sine


def paint(seed: int, train: bool, count: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The pictures (count, size, size, 3) and their classes.

    Args:
        seed: another seed, other pictures.
        train: which split.
        count: how many, from the first on.
        size: pixels along a side.
    """
    classes = labels(seed, train, count)
    pictures = np.empty((count, size, size, 3), np.uint8)
    grain = _grain()
    for number, outline in enumerate(OUTLINES.values()):
        members = np.nonzero(classes == number)[0]
        for start in range(0, len(members), TOGETHER):
            index = members[start : start + TOGETHER]
            pictures[index] = _painted(Chance(seed, train, index), outline, size, grain)
    return pictures, classes


def _grain() -> np.ndarray:
    """Bell-shaped noise, the sum of four bytes; pictures take windows of it."""
    bits = mixed(np.arange(GRAINS, dtype=np.uint64) * np.uint64(GOLDEN))
    total = sum(((bits >> np.uint64(8 * k)) & np.uint64(255)).astype(np.float32) for k in range(4))
    return (total - 510) * np.float32(1 / 148)


def _painted(chance: Chance, outline, size: int, grain: np.ndarray) -> np.ndarray:
    """Pictures of one class."""
    line = (np.arange(size, dtype=np.float32) * 2 + (1 - size)) / np.float32(size)
    x, y = line[None, None, :], line[None, :, None]
    soft = np.float32(size / 2)  # pixels in a unit: how fast an edge fades

    # The ground: two paints, one running into the other.
    ground = chance.below(1, len(PAINTS))
    second = (ground + chance.below(2, len(PAINTS))) % len(PAINTS)
    cosine, sine = turned(chance.between(3, -1.57, 1.57))
    run = np.clip((x * cosine + y * sine) * 0.35 + 0.5, 0, 1) * chance.between(4, 0.2, 0.8)
    front = (ground + 1 + chance.below(5, len(PAINTS) - 1)) % len(PAINTS)
    front = np.where(front == second, (2 * second - ground) % len(PAINTS), front)

    # The shape: somewhere, turned, a little stretched.
    size_of = chance.between(6, 0.42, 0.8)
    left, down = x - chance.between(7, -0.3, 0.3), y - chance.between(8, -0.3, 0.3)
    cosine, sine = turned(chance.between(9, -0.6, 0.6))
    stretch = chance.between(10, 0.86, 1.16)
    u = (left * cosine + down * sine) / (size_of * stretch)
    v = (down * cosine - left * sine) / (size_of / stretch)
    away = outline(u, v) * size_of
    inside = np.clip(0.5 - away * soft, 0, 1)
    light = 1 + (left + down) * chance.between(11, -0.22, 0.22)
    shade = 1 - 0.35 * np.clip(1 - np.abs(away - 0.06) * 9, 0, 1) * (1 - inside)  # a thin shadow around it

    # Crumbs of other colours before and behind it.
    crumbs = []
    for k in (20, 40):
        near = length(x - chance.between(k, -1, 1), y - chance.between(k + 1, -1, 1)) - chance.between(
            k + 2, 0.08, 0.26
        )
        tint = PAINTS[chance.below(k + 3, len(PAINTS))]
        crumbs.append((np.clip(0.5 - near * soft, 0, 1) * chance.between(k + 4, 0.2, 0.95), tint))
    cosine, sine = turned(chance.between(60, -1.57, 1.57))
    bar = box((x - chance.between(61, -0.9, 0.9)) * cosine + y * sine, y * cosine - x * sine, 0.04, 3.0)
    crumbs.append(
        (
            np.clip(0.5 - bar * soft, 0, 1) * chance.between(62, 0.0, 0.9),
            PAINTS[chance.below(63, len(PAINTS))],
        )
    )

    rough = chance.between(12, 3, 18)
    gain = chance.between(13, 0.75, 1.1)
    start = chance.below(14, GRAINS - size * size * 3)
    noise = np.lib.stride_tricks.sliding_window_view(grain, size * size * 3)[start].reshape(-1, 3, size, size)
    out = np.empty((len(ground), size, size, 3), np.uint8)
    for c in range(3):
        tone = PAINTS[:, c]
        base = tone[ground][:, None, None]
        value = base + (tone[second][:, None, None] - base) * run
        for k, (cover, tint) in enumerate(crumbs):
            if k == 0:
                continue
            value += (tint[:, c][:, None, None] - value) * cover
        value *= shade
        value += (tone[front][:, None, None] * light - value) * inside
        cover, tint = crumbs[0]
        value += (tint[:, c][:, None, None] - value) * cover
        value = value * gain + noise[:, c] * rough
        out[..., c] = np.clip(value, 0, 255)
    return out
