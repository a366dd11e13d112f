"""Numbers in a picture, without a font of the machine: three by five dots a sign.

Invariant: the same text gives the same dots everywhere.
"""

from __future__ import annotations

import numpy as np

# Each sign is five rows of three dots, a row as a digit 0 ... 7.
SIGNS = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717", "6": "74757", "7": "71122",
    "8": "75757", "9": "75717", "-": "00700", "+": "02720", ".": "00002", "e": "07746", "n": "00655", "a": "06356",
    "i": "20222", "f": "32722", "<": "12421", ">": "42124", "=": "07070", " ": "00000",
}  # fmt: skip


def dots(text: str, scale: int = 2) -> np.ndarray:
    """A text as a boolean picture, five dots high."""
    rows = np.zeros((5, max(1, 4 * len(text) - 1)), bool)
    for index, sign in enumerate(text):
        for row, bits in enumerate(SIGNS.get(sign, SIGNS[" "])):
            for column in range(3):
                rows[row, 4 * index + column] = int(bits) >> (2 - column) & 1
    return rows.repeat(scale, 0).repeat(scale, 1)


def short(value: float) -> str:
    """A number in few signs: three digits, e-notation outside 1e-3 ... 1e5."""
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    if value == 0:
        return "0"
    if not 1e-3 <= abs(value) < 1e5:
        mantissa, _, power = f"{value:.2e}".partition("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(power)}"
    text = f"{value:.3g}"
    return f"{value:.0f}" if "e" in text else text
