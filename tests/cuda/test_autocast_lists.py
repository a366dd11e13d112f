"""Autocast's lists for CUDA are those of PyTorch's headers."""

import re
from pathlib import Path

import pytest

import vistorch
from vistorch.amp import lists

torch = pytest.importorskip("torch")
# What PyTorch's C++ calls otherwise: a name of its own for each kind, where Python has one function.
WITHIN = {"nll_loss2d": "nll_loss", "grid_sampler": "grid_sample"}


@pytest.mark.parametrize(
    "macro, rules",
    [
        ("AT_FORALL_LOWER_PRECISION_FP", {"lower"}),
        ("AT_FORALL_FP32", {"full"}),
        ("AT_FORALL_FP32_SET_OPT_DTYPE", {"full_result", "full"}),
        ("AT_FORALL_PROMOTE", {"widest"}),
    ],
)
def test_the_lists_of_cuda_are_those_of_torchs_headers(macro, rules):
    """Every public name of the header has its rule here."""
    header = Path(torch.__file__).parent / "include/ATen/autocast_mode.h"
    if not header.exists():
        pytest.skip("this torch brings no headers")
    body = re.search(rf"#define {macro}\(_\)((?:.*\\\n)*.*)", header.read_text()).group(1)
    names = set(re.findall(r"_\(([a-z]\w*)", body))
    assert len(names) > 5
    here = {name for rule in rules for name in lists.CUDA[rule].split()}
    missing = set()
    for name in names:
        short = "interpolate" if name.startswith("upsample") else WITHIN.get(name, name)
        options = {short, short.replace("linalg_", "linalg."), f"__{short}__"}
        if not options & here:
            missing.add(name)
    assert not missing


def test_an_einsum_of_a_simulated_device_is_lower():
    vistorch.cuda.simulate(1)
    try:
        a = vistorch.ones(2, 3, device="cuda")
        with vistorch.autocast("cuda", vistorch.bfloat16):
            assert vistorch.einsum("ij,kj->ik", a, a).dtype is vistorch.bfloat16
            assert vistorch.rms_norm(a.bfloat16(), (3,)).dtype is vistorch.float32
    finally:
        vistorch.cuda.simulate(None)
