"""How many floating-point operations a program takes: products, convolutions and attention, both passes.

A multiplication and an addition are two. Counted as PyTorch counts: by module and by op; pointwise work is left out.

Invariant: nothing is computed twice, and a counter sees a backward pass only while it is entered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from math import prod
from typing import Any

from ..engine.base.events import Listener

__all__ = ["FlopCounterMode", "register_flop_formula"]


def mm_flop(a_shape: Any, b_shape: Any, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Of a product of two matrices."""
    return 2 * a_shape[0] * a_shape[1] * b_shape[1]


def addmm_flop(self_shape: Any, a_shape: Any, b_shape: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Of a product of two matrices that is added to something."""
    return mm_flop(a_shape, b_shape)


def bmm_flop(a_shape: Any, b_shape: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Of products of matrices in a batch."""
    return a_shape[0] * mm_flop(a_shape[1:], b_shape[1:])


def baddbmm_flop(self_shape: Any, a_shape: Any, b_shape: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Of products of matrices in a batch that are added to something."""
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape: Any, w_shape: Any, out_shape: Any, transposed: bool = False) -> int:
    """Of a convolution.

    Args:
        x_shape: the shape of the input.
        w_shape: of the weight.
        out_shape: of the result.
        transposed: whether it is a transposed one.
    """
    return 2 * prod(w_shape) * x_shape[0] * prod((x_shape if transposed else out_shape)[2:])


def sdpa_flop_count(query_shape: Any, key_shape: Any, value_shape: Any) -> int:
    """Of attention: the scores, and what they weigh.

    Args:
        query_shape: batch, heads, length and width of the queries.
        key_shape: of the keys.
        value_shape: of the values.
    """
    batch = prod(query_shape[:-2])
    length, width = query_shape[-2:]
    return 2 * batch * length * key_shape[-2] * (width + value_shape[-1])


def _sdpa_backward(query: Any, key: Any, value: Any) -> int:
    batch, length = prod(query[:-2]), query[-2]
    scores, weighed = length * key[-2] * query[-1], length * key[-2] * value[-1]
    return (
        2 * batch * (3 * scores + 2 * weighed)
    )  # the scores anew; then a product for each of the four gradients


def _product(skip: int, count: Callable) -> Callable:
    """Forward and backward of a product: each gradient is a product of the same size."""

    def flops(shapes: list, out: Any, wanted: list[bool] | None) -> int:
        once = count(*shapes[skip : skip + 2])
        return once if wanted is None else once * sum(wanted[skip : skip + 2])

    return flops


def _convolution(transposed: bool) -> Callable:
    def flops(shapes: list, out: Any, wanted: list[bool] | None) -> int:
        once = conv_flop_count(shapes[0], shapes[1], out, transposed)
        return once if wanted is None else once * sum(wanted[:2])

    return flops


def _attention(shapes: list, out: Any, wanted: list[bool] | None) -> int:
    return sdpa_flop_count(*shapes[:3]) if wanted is None else _sdpa_backward(*shapes[:3])


_SDPA = ("_scaled_dot_product_flash_attention", "_scaled_dot_product_flash_attention_backward")
# A row of the engine -> how it is counted, PyTorch's name of it forward, and of its gradients.
_COUNTED: dict[str, tuple[Callable, str, str]] = {
    "mm": (_product(0, mm_flop), "mm", "mm"),
    "addmm": (_product(1, mm_flop), "addmm", "mm"),
    "bmm": (_product(0, bmm_flop), "bmm", "bmm"),
    "baddbmm": (_product(1, bmm_flop), "baddbmm", "bmm"),
    "convolution": (_convolution(False), "convolution", "convolution_backward"),
    "convolution_with_bias": (_convolution(False), "convolution", "convolution_backward"),
    "convolution_transposed": (_convolution(True), "convolution", "convolution_backward"),
    "convolution_transposed_with_bias": (_convolution(True), "convolution", "convolution_backward"),
    "attention": (_attention, *_SDPA),
}
_MORE: dict[str, Callable] = {}


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable:
    """A decorator: count a further op by this function of the shapes of its arguments.

    Args:
        targets: the op's name, or several of them.
        get_raw: whether the function wants the tensors instead of their shapes.

    Example:
        >>> import vistorch
        >>> from vistorch.utils.flop_counter import FlopCounterMode, register_flop_formula
        >>> @register_flop_formula("exp")
        ... def count(shape, *args, out_shape=None, **kwargs):
        ...     return shape[0]
        >>> with FlopCounterMode(display=False) as counter:
        ...     _ = vistorch.ones(5).exp()
        >>> counter.get_total_flops()
        5
        >>> from vistorch.utils.flop_counter import _MORE
        >>> _ = _MORE.pop("exp")  # as if nothing had been
    """

    def enter(formula: Callable) -> Callable:
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            _MORE[_name(target)] = formula if get_raw else _by_shapes(formula)
        return formula

    return enter


def _name(target: Any) -> str:
    name = target if isinstance(target, str) else getattr(target, "__name__", str(target))
    return name.removeprefix("aten.").partition(".")[0]


def _by_shapes(formula: Callable) -> Callable:
    def count(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        shapes = [getattr(a, "shape", a) for a in args]
        return formula(*shapes, out_shape=getattr(out_val, "shape", None), **kwargs)

    return count


class FlopCounterMode(Listener):
    """Counts the floating-point operations of a `with` block.

    Args:
        mods: accepted; modules are found as they are called.
        depth: how many levels of modules the table shows.
        display: whether the table is printed at the end.
        custom_mapping: functions that count further ops, by name.

    Example:
        >>> import vistorch
        >>> from vistorch.utils.flop_counter import FlopCounterMode
        >>> model = vistorch.nn.Linear(3, 4)
        >>> with FlopCounterMode(display=False) as counter:
        ...     model(vistorch.ones(2, 3)).sum().backward()
        >>> counter.get_total_flops(), counter.get_flop_counts()["Linear"]
        (96, {'aten.addmm': 48, 'aten.mm': 48})
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int = 2,
        display: bool = True,
        custom_mapping: dict[Any, Any] | None = None,
    ) -> None:
        self.depth, self.display = depth, display
        self.flop_counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._more = dict(_MORE)
        for target, formula in (custom_mapping or {}).items():
            raw = getattr(formula, "_get_raw", False)
            self._more[_name(target)] = formula if raw else _by_shapes(formula)
        self._within: list[str] = ["Global"]
        self._names: dict[int, str] = {}
        self._running = False

    def __enter__(self) -> FlopCounterMode:
        """Begin anew."""
        self.flop_counts.clear()
        self._within, self._names, self._running = ["Global"], {}, True
        return super().__enter__()

    def __exit__(self, *exc: object) -> None:
        """Stop, and show the table if asked to."""
        super().__exit__(*exc)
        self._running = False
        if self.display:
            print(self.get_table(self.depth))

    def phase(self, name: str, subject: Any, *details: Any) -> None:
        """Follow which modules are being called."""
        if name == "forward":
            if id(subject) not in self._names:
                root = type(subject).__name__
                for path, module in subject.named_modules():
                    self._names.setdefault(id(module), f"{root}.{path}" if path else root)
            self._within.append(self._names[id(subject)])
        elif name == "forward_end" and len(self._within) > 1:
            self._within.pop()

    def op(self, rule: Any, ins: Any, consts: Any, outs: Any) -> None:
        """Count one op, and have its gradients counted when they are computed."""
        more = self._more.get(rule.name)
        if more is not None:
            self._add(list(self._within), rule.name, more(*ins, *consts, out_val=outs[0]))
            return
        counted = _COUNTED.get(rule.name)
        if counted is None:
            return
        flops, forward, backward = counted
        within = list(self._within)
        shapes, out = [tuple(getattr(x, "shape", ())) for x in ins], tuple(outs[0].shape)
        self._add(within, forward, flops(shapes, out, None))
        node = outs[0].grad_fn
        if node is None:
            return

        def ran(grad_inputs: Any, grad_outputs: Any) -> None:
            if self._running:
                wanted = [g is not None for g in grad_inputs]
                self._add(within, backward, flops(shapes, out, wanted))

        node.register_hook(ran)

    def _add(self, within: list[str], name: str, count: int) -> None:
        for module in dict.fromkeys(within):
            self.flop_counts[module][f"aten.{name}"] += count

    def get_total_flops(self) -> int:
        """All of them."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[str, int]]:
        """By module, and by op in each; "Global" is the whole."""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The counts as a table.

        Args:
            depth: how many levels of modules to show.
        """
        most = depth if depth is not None else self.depth if self.depth is not None else 999999
        whole = self.get_total_flops()
        rows = []
        for module in sorted(self.flop_counts, key=lambda name: (name != "Global", name)):
            level = 0 if module == "Global" else module.count(".") + 1
            if level > most:
                continue
            counts = self.flop_counts[module]
            rows.append((" " * level + module, sum(counts.values()), whole))
            rows += [(" " * level + f" - {name}", count, whole) for name, count in counts.items()]
        lines = [("Module", "FLOP", "% Total")]
        lines += [
            (name, _shown(count), f"{count / all_:.2%}" if all_ else "0.00%") for name, count, all_ in rows
        ]
        widths = [max(len(line[i]) for line in lines) for i in range(3)]
        texts = [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}" for a, b, c in lines]
        texts.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join(texts)


def _shown(count: int) -> str:
    """A number with a letter for its thousands, such as 1.234M."""
    power = max(0, min(4, (len(str(count)) - 2) // 3))
    letter = ("", "K", "M", "B", "T")[power]
    return f"{count / 1000**power:.3f}{letter}" if power else str(count)
