"""A share of PyTorch's operator database in each run of the tests; `python -m tests.conformance` runs all of it.

Invariant: every sample of these entries is right, and the comparison sees one that is not.
"""

import pytest
import torch

from tests.conformance import columns, database
from tests.conformance.__main__ import main

SAMPLES = 5
# One or two of each family, with two samples for each column.
ENTRIES = """
    add addmm amax as_strided:partial_views bernoulli clamp cumsum diagonal einsum expand index_put linalg.eigh
    linalg.qr logsumexp masked_fill matmul max:binary mean nn.functional.conv2d nn.functional.cross_entropy
    nn.functional.gelu nn.functional.group_norm normal repeat scatter_reduce:amax special.log_ndtr split std sum
    take_along_dim where masked.sum masked.softmax masked.var linalg.ldl_solve
""".split()
# Entries that were wrong once, in the column where they were.
ONCE_WRONG = {
    "found": "__rdiv__ linalg.ldl_factor linalg.ldl_factor_ex",
    "forward": "masked.amax masked.amin masked.argmax masked.argmin masked.cumprod "
    "masked.cumsum masked.log_softmax masked.logaddexp masked.logsumexp masked.mean masked.median masked.norm "
    "masked.normalize masked.prod masked.softmin masked.std",
    "gradients": "nn.functional.conv_transpose2d nn.functional.conv_transpose3d masked.logaddexp masked.norm",
    "second order": "nn.functional.conv_transpose2d masked.mean",
    "errors": "__radd__ __rdiv__ bitwise_and cat float_power index_select kthvalue pow remainder rsub "
    "signal.windows.hann special.zeta xlogy",
    "strides": "cholesky_inverse cholesky_solve fft.fftn fft.ihfftn fft.irfft2 geqrf linalg.cholesky linalg.eig "
    "linalg.inv linalg.lstsq linalg.lu_factor linalg.lu_solve linalg.solve linalg.svd linalg.tensorinv lu svd "
    "triangular_solve unique unique_consecutive",
    "other dtypes": "sum_to_size tensordot",
}


def _wrong(column, names, samples):
    found = {name: columns.check(database.entries()[name], column, samples)[1][:2] for name in names}
    return {name: wrong for name, wrong in found.items() if wrong}


@pytest.mark.parametrize("column", columns.COLUMNS)
def test_share(column):
    every = ENTRIES[::4] if column == "other dtypes" else ENTRIES  # ten types, ten times the work
    assert _wrong(column, every, 2) == {}


@pytest.mark.parametrize("column", columns.COLUMNS)
def test_what_was_wrong_once(column):
    most = {"gradients": 12, "second order": 12, "forward": 20}.get(column, 60)
    assert _wrong(column, ONCE_WRONG[column].split(), most) == {}


@pytest.mark.parametrize(
    "column, change",
    [
        ("forward", lambda out: out + 1e-3),
        ("forward", lambda out: out.float()),
        ("strides", lambda out: out.repeat_interleave(2)[::2] if out.ndim == 1 else out),
        ("gradients", lambda out: out * 1.001),
        ("second order", lambda out: out * 1.001),
        ("other dtypes", lambda out: out.to(columns.L.float64)),
    ],
)
def test_a_difference_is_seen(column, change, monkeypatch):
    info = database.entries()["sigmoid"]
    assert columns.check(info, column, SAMPLES)[1] == []
    function = columns.Entry.function
    monkeypatch.setattr(
        columns.Entry,
        "function",
        lambda self, carrier: lambda *a, **k: change(function(self, carrier)(*a, **k)),
    )
    tries, wrong = columns.check(info, column, SAMPLES)
    assert wrong and tries


def test_an_error_that_is_missing_or_other_is_seen(monkeypatch):
    info = database.entries()["gather"]
    right = columns.check(info, "errors")
    assert right[0] > 4
    for instead in (lambda *a, **k: None, lambda *a, **k: 1 / 0):
        monkeypatch.setattr(columns.Entry, "function", lambda self, carrier, instead=instead: instead)
        assert len(columns.check(info, "errors")[1]) == right[0]


def test_the_table(capsys):
    assert main(["--op", "neg", "--samples", "3", "--workers", "1"]) == 0
    table = capsys.readouterr().out
    assert "| forward | 1 | 1 | 100.0 |" in table
    with pytest.raises(SystemExit):
        main(["--op", "wobble"])


def test_carried_tensors_share_memory_and_keep_strides():
    from tests.conformance.carried import Carrier

    x = torch.arange(12.0).reshape(3, 4)
    carrier = Carrier()
    a, b = carrier.value(x.t()), carrier.value(x[1:, ::2])
    assert a.stride() == (1, 4) and b.stride() == (4, 2) and b.tolist() == [[4, 6], [8, 10]]
    b.zero_()
    assert a[0].tolist() == [0, 0, 0]
