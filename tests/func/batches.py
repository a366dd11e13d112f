"""Every operator of PyTorch's database under `vmap`, held against the loop over the samples.

`python -m tests.func.batches [names]` runs them all. Values, and the gradient of each sample.
Invariant: the reference calls the operator with plain tensors, one sample at a time.
"""

import sys
import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import torch

import vistorch as L
from tests.conformance import database
from tests.conformance.carried import Carrier
from tests.conformance.columns import Entry, limited, seeded, swapped, varied
from tests.ops.library import flat
from vistorch.engine.base.errors import Unbatchable
from vistorch.func import batches

BATCH = 3
# what each sample draws or looks at is not the other samples'
APART = frozenset(
    "empty empty_like new_empty empty_strided new_empty_strided empty_permuted nonzero unique unique_consecutive "
    "masked_select argwhere item equal allclose bernoulli multinomial normal rand_like randint_like randn_like".split()
)


class Counted:
    """How many calls went one sample at a time."""

    loops = 0
    why: ClassVar[dict] = {}


def leaves_of(tree: Any) -> list:
    """The tensors of a sample."""
    return [x for x in flat(tree) if isinstance(x, L.Tensor)]


def compare(mine: Any, other: list) -> str:
    """What differs between a result of all samples and the list of theirs."""
    got = flat(mine)
    want = [flat(o) for o in other]
    if len(got) != len(want[0]):
        return f"{len(got)} results, not {len(want[0])}"
    for k, g in enumerate(got):
        w = L.stack([o[k] for o in want])
        if g.shape != w.shape or g.dtype != w.dtype:
            return f"{tuple(g.shape)} {g.dtype}, not {tuple(w.shape)} {w.dtype}"
        if not L.allclose(g, w, 1e-6, 1e-8, equal_nan=True):
            return f"values: {g.flatten()[:4].tolist()}, not {w.flatten()[:4].tolist()}"
    return ""


def tensors_only(tree: Any) -> Any:
    """The tensors of a result, as a tuple."""
    return tuple(leaves_of(tree))


def wrong(entry: Entry, most: int, gradients: bool = True) -> Iterator[str]:
    """What is not the loop's."""
    dtypes = entry.info.supported_dtypes("cpu")
    dtype = next((d for d in (torch.float64, torch.complex128, torch.int64, torch.bool) if d in dtypes), None)
    if dtype is None:
        return
    for nr, sample in enumerate(entry.info.sample_inputs("cpu", dtype, requires_grad=False)):
        if nr == most:
            return
        try:
            carrier = Carrier()
            given = carrier.value((sample.input, sample.args, sample.kwargs))
            call = entry.call(carrier, sample)
            call(given[0], given[1], given[2])
        except Exception:
            continue
        leaves = [x for x in leaves_of(given) if x.layout == L.strided]
        if not leaves:
            continue
        for which in range(3 if len(leaves) > 1 else 1):
            chosen = [x for i, x in enumerate(leaves) if which == 0 or (i == 0) == (which == 1)]

            def run(*xs: Any, chosen: Any = chosen, given: Any = given, call: Any = call) -> Any:
                instead = {id(x): new for x, new in zip(chosen, xs, strict=True)}
                return tensors_only(call(*swapped(given, instead)))

            columns = [[varied(x, i) for i in range(BATCH)] for x in chosen]
            whole = [L.stack(c) for c in columns]
            for order in (0, 1) if gradients else (0,):
                if order:
                    if not all(x.is_floating_point() for x in chosen):
                        continue

                    def function(*xs: Any, run: Any = run) -> Any:
                        def value(*ys: Any) -> Any:
                            outs = [o for o in run(*ys) if o.is_floating_point()]
                            return sum([(o * o.detach().cos()).sum() for o in outs])

                        return L.func.grad(value, tuple(range(len(xs))))(*xs)
                else:
                    function = run
                where = f"{nr}{'gs'[order == 0]}{which}"
                try:
                    expected = [function(*[c[i] for c in columns]) for i in range(BATCH)]
                except Exception:
                    continue
                try:
                    got = L.func.vmap(function)(*whole)
                except Exception as error:
                    yield f"{where} {type(error).__name__}: {error}"
                    continue
                said = compare(got, expected)
                if said:
                    yield f"{where} {said}"


def watched(call: Any) -> Any:
    """`_Call.in_chunks`, counted where it gives up."""

    def in_chunks(self: Any, *args: Any) -> Any:
        try:
            return call(self, *args)
        except Unbatchable as reason:
            Counted.loops += 1
            Counted.why[str(reason)] = Counted.why.get(str(reason), 0) + 1
            raise

    return in_chunks


def main(names: list[str]) -> int:
    """Run the campaign; the number of entries that are not right."""
    batches._Call.in_chunks = watched(batches._Call.in_chunks)
    bad = 0
    looping = []
    entries = database.entries()
    for label, info in entries.items():
        if (names and label not in names) or label.split(".")[-1] in APART:
            continue
        Counted.loops, Counted.why = 0, {}
        said = []
        try:
            with limited(20), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                seeded()
                said = list(wrong(Entry(info), 12))
        except BaseException as error:
            said = [f"{type(error).__name__}: {error}"]
        if said:
            bad += 1
            print(f"{label}: {len(said)}: {said[0][:230]}", flush=True)
        if Counted.loops:
            looping.append(label)
            print(f"   loop {label}: {Counted.loops} {Counted.why}"[:200], flush=True)
    print(f"{bad} entries are wrong; {len(looping)} go one by one")
    return bad


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
