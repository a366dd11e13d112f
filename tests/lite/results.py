"""What every op gives for its records, as plain numbers: made in one Python, compared with another's.

`python -m tests.lite.results FILE` writes them. Invariant: nothing but numpy and vistorch is needed, so that it also
runs in a browser's Python.
"""

from __future__ import annotations

import pickle
import re
import sys
import warnings
from typing import Any

import numpy as np

UNSET = re.compile("empty|Tensor$|Storage$")  # whose values are what the memory held
ADDRESS = re.compile(" at 0x[0-9a-f]+")
DTYPES = ("float32", "float64", "complex64", "int64", "int32", "uint8", "bool")


def built(item: Any, dtype: str, seed: int, library: Any) -> Any:
    """An argument of a record, its tensors made."""
    from tests.ops.record import Lib, X

    if isinstance(item, X):
        kind = item.dtype or dtype
        array = item.data(kind, seed)
        with np.errstate(all="ignore"):
            return library.tensor(np.array(array)).to(getattr(library, kind))
    if isinstance(item, np.ndarray):
        return library.tensor(item.astype(np.int64) if item.dtype == np.intp else np.array(item))
    if isinstance(item, Lib):
        return getattr(library, item.name)
    if isinstance(item, dict):
        return {key: built(part, dtype, seed, library) for key, part in item.items()}
    if isinstance(item, (tuple, list)):
        return type(item)(built(part, dtype, seed, library) for part in item)
    return item


def plain(result: Any, library: Any) -> Any:
    """A result as types, shapes and numbers."""
    if isinstance(result, library.Tensor):
        if result.is_sparse:
            return ("sparse",)
        known = result.dtype != library.bfloat16
        return (str(result.dtype), tuple(result.shape), np.array(result.detach().numpy()) if known else None)
    if isinstance(result, (tuple, list)):
        return [plain(one, library) for one in result]
    return repr(result) if isinstance(result, (int, float, complex, bool, str)) else type(result).__name__


def called(op: Any, args: tuple, kwargs: dict[str, Any], library: Any) -> Any:
    """What a record's op returns."""
    if op.fn is not None:
        return op.fn(library, *args, **kwargs)
    if op.name.startswith("Tensor."):
        thing = getattr(args[0], op.base)
        return thing(*args[1:], **kwargs) if callable(thing) else thing
    owner: Any = library
    for name in op.name.split("."):
        owner = getattr(owner, name)
    return owner(*args, **kwargs)


def with_gradients(op: Any, sample: Any, dtype: str, library: Any) -> Any:
    """The result of one call and, in double precision, the gradients of the sum of all that it gives."""
    args, kwargs = (built(part, dtype, 0, library) for part in (sample.args, sample.kwargs))
    leaves = []
    if sample.grad and dtype == "float64":
        leaves = [x for x in _tensors((args, kwargs), library) if x.dtype == library.float64]
        for leaf in leaves:
            leaf.requires_grad_()
    library.manual_seed(0)
    result = called(op, args, kwargs, library)
    found = [plain(result, library)]
    outs = [x for x in _tensors(result, library) if x.requires_grad and x.grad_fn is not None]
    if outs:
        sum((x * x.detach().cos()).sum() for x in outs if not x.is_sparse).backward()
        found += [plain(leaf.grad, library) for leaf in leaves]
    return found


def _tensors(item: Any, library: Any) -> list[Any]:
    if isinstance(item, dict):
        return _tensors(tuple(item.values()), library)
    if isinstance(item, (tuple, list)):
        return [found for part in item for found in _tensors(part, library)]
    return [item] if isinstance(item, library.Tensor) else []


def results(names: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Every record's calls, in a few dtypes.

    Args:
        names: of records; all of them, if none are named.
    """
    import vistorch
    from tests.ops.cases import dtypes_of
    from tests.ops.samples import OPS

    found: dict[str, Any] = {}
    for op in OPS:
        if UNSET.search(op.name) or (names and op.name not in names):
            continue
        for number, sample in enumerate(op.samples):
            for dtype in dtypes_of(op, sample):
                if dtype not in DTYPES:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        result = with_gradients(op, sample, dtype, vistorch)
                    except Exception as error:
                        result = ("raises", type(error).__name__, ADDRESS.sub("", str(error))[:300])
                # Two samples of a record may read alike; their numbers tell them apart.
                found[f"{op.id} {number} {dtype}"] = result if op.gauge is None else _shapes(result)
    return found


def _shapes(result: Any) -> Any:
    """The result without its values, where they are defined only up to a factor."""
    if isinstance(result, list):
        return [_shapes(part) for part in result]
    return (*result[:2], None) if isinstance(result, tuple) and result[0] != "raises" else result


def differences(mine: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """What differs in type, shape or value.

    Args:
        mine: the results to judge.
        theirs: those of a Python that is known to be right.
    """
    pairs = ((name, mine.get(name, "nothing"), theirs[name]) for name in theirs)
    return [f"{name}: {says}" for name, one, other in pairs if (says := _differs(one, other))]


def _differs(a: Any, b: Any) -> str:
    if isinstance(b, list) and isinstance(a, list) and len(a) == len(b):
        return next((says for one, other in zip(a, b, strict=True) if (says := _differs(one, other))), "")
    if isinstance(b, tuple) and len(b) == 3 and b[0] != "raises":
        if not (isinstance(a, tuple) and a[:2] == b[:2]):
            return f"{a[:2] if isinstance(a, tuple) and a[0] != 'raises' else a} instead of {b[:2]}"
        return "" if b[2] is None or _near(a[2], b[2]) else f"{a[2]} instead of {b[2]}"
    if isinstance(a, str) and isinstance(b, str) and _number(a) is not None and _number(b) is not None:
        return "" if _near(np.array(_number(a)), np.array(_number(b))) else f"{a} instead of {b}"
    return "" if a == b else f"{a} instead of {b}"


def _number(text: str) -> Any:
    try:
        return complex(text)
    except ValueError:
        return None


def _near(a: np.ndarray, b: np.ndarray) -> bool:
    if b.dtype.kind not in "fc":
        return np.array_equal(a, b)
    exact = 1e-4 if b.dtype in (np.float32, np.complex64) else 1e-6
    with np.errstate(all="ignore"):
        return np.allclose(
            a, b, exact, exact * max(1.0, float(np.abs(b[np.isfinite(b)]).max(initial=0))), True
        )


if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        pickle.dump(results(), file)
