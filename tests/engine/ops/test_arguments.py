"""Arguments in every form: what PyTorch takes is taken, with its result, and what it refuses is refused.

Invariant: each line is one call, made in both libraries; a difference of the kind of error is a failure too.
"""

import warnings

import numpy as np
import pytest

import vistorch

torch = pytest.importorskip("torch", reason="torch is the reference of these tests")

FLAGS = """
    x.sum(0, {}); x.mean(0, {}); x.prod(0, {}); x.nansum(0, {}); x.nanmean(0, {}); x.amax(0, {}); x.max(0, {})
    x.argmin(0, {}); x.all(0, {}); x.any(0, {}); x.median(0, {}); x.nanmedian(0, {}); x.mode(0, {})
    x.kthvalue(1, 0, {}); x.logsumexp(0, {}); x.std(0, keepdim={}); x.var(unbiased={}); L.var_mean(x, 0, keepdim={})
    L.aminmax(x, keepdim={}); L.aminmax(x, dim=0, keepdim={}); x.quantile(0.5, 0, {}); x.nanquantile(0.5, keepdim={})
    x.norm(2, 0, {}); L.linalg.vector_norm(x, 2, 0, {}); L.linalg.norm(x, 2, 0, {}); L.linalg.matrix_norm(s, keepdim={})
    x.sort(0, {}); x.sort(descending={}); x.sort(stable={}); x.argsort(0, {}); x.argsort(stable={})
    x.topk(1, 0, {}); x.topk(1, 0, True, {}); x.unique({}); x.unique(return_inverse={}); x.unique(return_counts={})
    x.unique_consecutive({}); L.isin(x, x, invert={}); L.bucketize(x, x, right={}); L.bucketize(x, x, out_int32={})
    L.searchsorted(x, x, right={}); L.histogram(x, 3, density={}); L.isclose(x, x, equal_nan={})
    L.allclose(x, x, equal_nan={}); x.nonzero(as_tuple={}); L.combinations(x, 2, {}); L.vander(x, increasing={})
    s.lu({}); L.linalg.lu(s, pivot={}); L.linalg.svd(s, {}); L.svd(s, {}); L.qr(s, {}); L.cholesky(s, {})
    L.linalg.cholesky(s, upper={}); L.linalg.inv_ex(s, check_errors={}); L.linalg.solve(s, s, left={})
    L.linalg.solve_triangular(s, s, upper={}); L.linalg.matrix_rank(s, hermitian={}); L.linalg.pinv(s, hermitian={})
    L.cholesky_solve(s, s, {}); L.cholesky_inverse(s, {}); L.triangular_solve(s, s, {}); L.multinomial(x, 1, {})
    x.index_put((i,), x[:1].clone(), {}); x.index_put_((i,), y[:1], {}); x.put(i, y[:1], {})
    x.scatter_reduce(0, i, y[:1], "sum", include_self={}); x.index_reduce(0, i, y[:1], "prod", include_self={})
    s.fill_diagonal_(1, {}); x.numpy(force={}); x.requires_grad_({}); x.type(L.float64, {}); x.to(L.float64, {})
    x.to(L.float64, copy={}); L.nn.functional.pairwise_distance(x, y, keepdim={})
"""
NOT_BOOLS = ("2", "[]", "0.0", "'yes'")
CALLS = """
    L.histogram(x); x.histogram(); L.histogram(x, range=(0.0, 4.0)); L.histogram(x, density=True)
    m.vsplit(1, 7); m.vsplit(0, 1); m.hsplit(1, 2); L.ones(2, 2, 2).dsplit(1, 2); m.vsplit(i[0], i[0])
    m.vsplit(1, 1, 1); L.vsplit(m, 1, 1); m.vsplit(); m.vsplit(1, indices=(1,)); m.vsplit(sections=1, indices=(1,))
    m.vsplit(sections=1); m.vsplit(indices=(1,)); m.hsplit(1, 2.5); m.hsplit(1, (2,)); m.vsplit(3)
    m.squeeze(0, 1); m[None].squeeze(0, 1); L.squeeze(m, 0, 1); m.count_nonzero(0, 1); L.count_nonzero(m, 0, 1)
    m.broadcast_to(2, 2, 3); L.broadcast_to(m, 2, 2, 3); m.broadcast_to((2, 2, 3)); m.squeeze(0, 0); m.squeeze(0.5, 1)
    L.min(x, y, True); L.max(x, y, 0); L.min(x, y, y); L.min(x, y, keepdim=True); L.min(x, y); L.min(x, i[0], True)
    x.cummax(i); x.cummin(i[None]); x.cumsum(i); x.sort(i); x.argmax(i); x.unsqueeze(i); x.softmax(i); x.cummax(i[0])
    x.sum(i); x.mean(i[None]); x.sum(i[0]); x.cummax(L.tensor(True)); x.cummax(y); x.unbind(i); x.median(i)
    x.type(eps=1); x.type(L.float64, eps=1); x.type(L.float64, async_=True); x.type(L.float64, True); x.type()
    x.float(None); x.float(L.contiguous_format); x.float(memory_format=None); x.double(None); x.half(None); x.int(None)
    x.long(None); x.bool(None); x.cpu(None); x.cpu(memory_format=None); x.cfloat(None); x.byte(None); x.short(2)
    x.to(L.float64, None); x.to(L.float64, non_blocking=None); x.to(None); x.sum(0, 1); s.sum(0, 1); s.all(0, 1)
    L.linalg.multi_dot(s); L.linalg.multi_dot(L.ones(2, 2, 2)); L.linalg.multi_dot([s, s]); L.linalg.multi_dot((s, s))
"""


def lines(text: str) -> list[str]:
    """The calls of a table."""
    return [call.strip() for call in text.replace("\n", ";").split(";") if call.strip()]


def plain(value: object) -> object:
    """A result without what names the library."""
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, (torch.Tensor, vistorch.Tensor)):
        array = np.array(value.tolist()).reshape(tuple(value.shape))
        return (tuple(value.shape), str(value.dtype).rpartition(".")[2], array.round(5).tolist())
    return str(value).replace("vistorch", "torch")


def end(L: object, call: str, values: bool = True) -> object:
    """What a call gives: a result, or the kind of its error."""
    make = L.tensor  # type: ignore[attr-defined]
    scope = {
        "L": L,
        "x": make([1.0, 3.0, 2.0]),
        "y": make([2.0, 1.0, 5.0]),
        "m": L.arange(6.0).reshape(2, 3),  # type: ignore[attr-defined]
        "s": make([[4.0, 1.0], [1.0, 3.0]]),
        "i": make([0]),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = eval(call, scope)
        except Exception as error:
            return type(error).__name__
    return plain(result) if values else "a result"


@pytest.mark.parametrize("call", lines(FLAGS))
def test_a_flag_is_a_bool(call: str) -> None:
    assert end(torch, call.format(True), False) == end(vistorch, call.format(True), False) == "a result"
    for given in NOT_BOOLS:
        assert end(vistorch, call.format(given)) == end(torch, call.format(given)) == "TypeError", given


@pytest.mark.parametrize("call", lines(CALLS))
def test_forms_of_a_call(call: str) -> None:
    assert end(vistorch, call) == end(torch, call)
