"""A share of PyTorch's operator database in each run of the tests; `python -m tests.conformance` runs all of it.

Invariant: every sample of these entries is right, and the comparison sees one that is not.
"""

from pathlib import Path

import pytest
import torch

from tests.conformance import columns, database, opinion
from tests.conformance.__main__ import main

SAMPLES = 5
# One of each family, with two samples for each column; most of the rest were wrong once and stand below.
ENTRIES = """
    add as_strided:partial_views clamp cumsum einsum index_put linalg.eigh logsumexp matmul nn.functional.conv2d
    nn.functional.cross_entropy nn.functional.group_norm scatter_reduce:amax std where masked.var
""".split()
# Entries that were wrong once, in the column where they were.
ONCE_WRONG = {
    "found": "__rdiv__ hash_tensor linalg.ldl_factor linalg.ldl_factor_ex",
    "forward": "hash_tensor masked.amax masked.amin masked.argmax masked.argmin masked.cumprod "
    "masked.cumsum masked.log_softmax masked.logaddexp masked.logsumexp masked.mean masked.median masked.norm "
    "masked.normalize masked.prod masked.softmin masked.std",
    "gradients": "cdist nn.functional.conv_transpose2d nn.functional.conv_transpose3d masked.logaddexp masked.norm",
    "second order": "cov nn.functional.conv_transpose2d masked.mean nanquantile quantile",
    "forward mode": "nn.functional.max_unpool1d nn.functional.max_unpool2d nn.functional.max_unpool3d",
    "errors": "__radd__ __rdiv__ bitwise_and cat float_power gather index_select kthvalue multinomial narrow_copy pow "
    "remainder rsub signal.windows.hann special.zeta xlogy",
    "strides": "cholesky_inverse cholesky_solve fft.fftn fft.ihfftn fft.irfft2 geqrf linalg.cholesky linalg.eig "
    "linalg.householder_product linalg.inv linalg.lstsq linalg.lu_factor linalg.lu_solve linalg.solve "
    "linalg.solve_triangular linalg.svd linalg.tensorinv lu nn.functional.interpolate:nearest "
    "nn.functional.max_pool2d nn.functional.max_unpool2d ormqr svd triangular_solve unique unique_consecutive "
    "unsafe_chunk",
    "other dtypes": "full_like logcumsumexp logspace nn.functional.interpolate:bilinear "
    "nn.functional.scaled_dot_product_attention polygamma:polygamma_n_1 sum_to_size tensordot",
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
    most = {"gradients": 12, "second order": 12, "forward": 12, "other dtypes": 12}.get(column, 40)
    assert _wrong(column, ONCE_WRONG.get(column, "").split(), most) == {}


@pytest.mark.parametrize(
    "column, change",
    [
        ("forward", lambda out: out + 1e-3),
        ("forward", lambda out: out.float()),
        ("strides", lambda out: out.repeat_interleave(2)[::2] if out.ndim == 1 else out),
        ("gradients", lambda out: out * 1.001),
        ("second order", lambda out: out * 1.001),
        ("forward mode", lambda out: out * 1.001),
        ("vmap", lambda out: out * 1.001),
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
    assert "| forward | 1 | 1 | 0 | 100.0 |" in table
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


def test_a_second_opinion_can_refuse():
    sorts = database.entries()["sort"]
    sample = next(s for s in sorts.sample_inputs("cpu", torch.int16) if s.input.numel() > 20 and not s.kwargs)
    x, (values, order) = sample.input, torch.sort(sample.input, *sample.args)
    if not (x == x.flatten()[0]).all():
        for other in (order.flip(0), torch.zeros_like(order)):
            assert not opinion.tied("sort", sample, [values, other], [values, order])
    assert opinion.tied("sort", sample, [values, order], [values, order])
    expm = database.entries()["matrix_exp"]
    sample = next(iter(expm.sample_inputs("cpu", torch.bfloat16)))
    theirs = expm.op(sample.input)
    ours = columns.L.linalg.matrix_exp(columns.L.from_numpy(sample.input.float().numpy()).bfloat16())
    assert opinion.agrees("matrix_exp", sample, expm.op, ours, theirs)
    assert not opinion.agrees("matrix_exp", sample, expm.op, ours * 1.2, theirs)


def test_a_documented_difference_is_one():
    page = (Path(__file__).parents[2] / "docs" / "differences.md").read_text()
    for (column, name), sentence in opinion.DIFFERS.items():
        assert sentence in page and columns.check(database.entries()[name], column, 12)[1], (column, name)
