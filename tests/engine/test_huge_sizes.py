"""Sizes no memory holds: PyTorch's kind of exception in one sentence, at once, and no memory touched.

Invariant: the exception's type is the one torch has for the same call, and its words are not numpy's.
"""

import re
import resource
import time

import pytest
import torch

import vistorch

CALLS = {
    "zeros": lambda L: L.zeros(10**12),
    "ones": lambda L: L.ones(10**9, 10**9),
    "full": lambda L: L.full((10**13,), 1.5),
    "empty": lambda L: L.empty(2**62, 2**62),
    "zeros_64_bits": lambda L: L.zeros(2**64),
    "arange": lambda L: L.arange(10**15),
    "eye": lambda L: L.eye(10**7),
    "linspace": lambda L: L.linspace(0, 1, 10**13),
    "rand": lambda L: L.rand(2**40),
    "randperm": lambda L: L.randperm(2**45),
    "view_twice_open": lambda L: L.zeros(4).view(-1, -1),
    "view_ambiguous": lambda L: L.zeros(0).view(-1, 0),
    "view_too_large": lambda L: L.zeros(4).view(10**18),
    "expand_64_bits": lambda L: L.zeros(1).expand(2**64),
    "repeat": lambda L: L.zeros(3).repeat(10**13),
    "repeat_overflow": lambda L: L.zeros(3).repeat(2**61, 2**61),
    "tile": lambda L: L.tile(L.zeros(3), (10**13,)),
    "repeat_interleave": lambda L: L.zeros(3).repeat_interleave(10**14),
    "broadcast_add": lambda L: L.zeros(10**7, 1) + L.zeros(1, 10**7),
    "broadcast_outer": lambda L: L.outer(L.zeros(10**7), L.zeros(10**7)),
    "contiguous": lambda L: L.zeros(1).expand(10**13).contiguous(),
    "exp_of_expanded": lambda L: L.zeros(1).expand(10**13).exp(),
    "cat": lambda L: L.cat([L.zeros(1).expand(10**13)] * 2),
    "diag_embed": lambda L: L.diag_embed(L.zeros(3), 10**8),
    "fft": lambda L: L.fft.fft(L.zeros(3), 10**13),
}


@pytest.mark.parametrize("name", CALLS)
def test_huge(name: str) -> None:
    """One sentence, in torch's type, within a second."""
    with pytest.raises(Exception) as theirs:
        CALLS[name](torch)
    used, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    with pytest.raises(type(theirs.value)) as mine:
        CALLS[name](vistorch)
    assert time.perf_counter() - start < 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used < 300_000  # kilobytes
    said = str(mine.value)
    assert "\n" not in said
    assert type(mine.value).__module__ == "builtins"
    assert not re.search(r"numpy|array|Unable to allocate|Maximum allowed|ufunc|axis", said)
