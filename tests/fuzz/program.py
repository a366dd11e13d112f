"""Random programs: lines of Python over a library `L`, the same text for every library.

Invariant: a program depends on its seed alone; torch is run while it is written, to know the shapes.
"""

import random
import re
import warnings
from collections.abc import Callable

import torch

from tests.fuzz import edges
from tests.fuzz.machine import of_line

Line = str | None
UNARY = (
    "{x}.sin()",
    "{x}.cos()",
    "{x}.tanh()",
    "({x} * 0.1).exp()",
    "-{x}",
    "{x}.abs()",
    "{x} ** 2",
    "{x}.square()",
    "{x}.sigmoid()",
    "({x} * {x} + 1).sqrt()",
    "{x} * 1.5",
    "2 - {x}",
    "1 / ({x} * {x} + 1)",
    "{x}.clamp(-0.9, 0.9)",
    "{x}.clone()",
    "{x}.cumsum(-1)",
)
BINARY = (
    "{x} * {y}",
    "{x} + {y}",
    "{x} - {y}",
    "{x} / ({y} * {y} + 1)",
    "L.maximum({x}, {y})",
    "L.where({x} > {y}, {x}, {y} * 2)",
    "L.lerp({x}, {y}, 0.3)",
    "L.atan2({x}, {y} * {y} + 1)",
    "L.addcmul({x}, {x}, {y}, value=0.5)",
    "L.cat([{x}, {x}], 0) * 0.5",
    "L.stack([{x}, {x} * {y}])",
)
REDUCE = (
    "sum()",
    "sum({d})",
    "mean({d}, keepdim=True)",
    "amax({d})",
    "prod({d})",
    "logsumexp({d})",
    "var({d})",
    "norm()",
)
VIEWS = (
    "{x}[{i}]",
    "{x}[{i}:{j}]",
    "{x}[..., {i}]",
    "{x}[::2]",
    "{x}[None]",
    "{x}.select({d}, {i})",
    "{x}.narrow({d}, 0, 1)",
    "{x}.transpose(0, -1)",
    "{x}.t()",
    "{x}.view(-1)",
    "{x}.reshape(-1)",
    "{x}.flatten()",
    "{x}.unsqueeze({d})",
    "{x}.squeeze()",
    "{x}.diagonal()",
    "{x}.expand(2, *{x}.shape)",
    "{x}.view_as({x})",
    "{x}.detach()",
    "{x}.data",
    "{x}.contiguous().clone()",
    "{x}[[0, -1]]",
    "{x}[{x} > 0]",
)
MANY = ("{x}.chunk(2, {d})", "{x}.unbind({d})", "{x}.split(1, {d})", "{x}.tensor_split(2, {d})")
IN_PLACE = (
    "{x}.mul_({y})",
    "{x}.add_({y})",
    "{x}.sub_({y}, alpha=0.5)",
    "{x}.mul_(1.5)",
    "{x}.add_(0.5)",
    "{x}.sin_()",
    "{x}.tanh_()",
    "{x}.zero_()",
    "{x}.fill_(0.7)",
    "{x}.copy_({y})",
    "{x}.clamp_(-0.5, 0.8)",
    "{x}.div_({y}.detach().abs() + 1)",
    "{x}[{i}] = {y}",
    "{x}[{i}] = 0.3",
    "{x}[{i}:{j}] = {y}",
    "{x}[..., {i}] = 0.4",
    "{x}[{i}] *= 2",
    "{x}[{i}] += {x}[0] * 0.5",
    "{x}[{x} > 0.5] = 0.1",
    "{x}[{i}:{j}].mul_(2.0)",
    "{x}[{i}].add_({x}[{i}])",
    "{x}[{i}].mul_({x}[-1])",
    "{x}.t().mul_(0.5)",
    "{x}.view(-1)[0:2].add_(1.0)",
    "{x}.mul_({x})",
    "{x}.add_({x}.t())",
    "{x} += {y}",
    "{x}.masked_fill_({x} < 0, 0.2)",
    "{x}.unsqueeze_(0)",
    "{x}.t_()",
    "{x}.squeeze_()",
    "{x}.transpose_(0, -1)",
    "{x}.detach_()",
    "{x}.data.mul_(2.0)",
    "{x}.detach().mul_(0.5)",
)
# torch 2.13 crashes where a hook is put on a view whose base was written to since: asking for grad_fn first
# brings its history up to date.
MODES = (
    "with L.no_grad(): {n} = {x}[{i}:{j}]",
    "with L.no_grad(): {n} = {x}.view(-1)",
    "with L.no_grad(): {n} = {x} * 2",
    "with L.no_grad(): {n}, {m} = {x}.chunk(2, 0)",
    "with L.no_grad(): {x}.add_(0.25)",
    "with L.no_grad(): {x}.mul_({y})",
    "with L.no_grad(): {x}[{i}] = 0.6",
    "with L.no_grad(): {x} -= 0.1 * {y}",
    "with L.enable_grad(): {n} = {x} * {y}",
    "{x}.requires_grad_()",
    "{x}.requires_grad_(False)",
    "{n} = {x}.detach().requires_grad_()",
    "{n} = {x}.detach().clone().requires_grad_()",
    "{x}.grad_fn; {x}.retain_grad()",
    "{x}.grad_fn; {x}.register_hook(lambda g: g * 2)",
    "{x}.grad_fn; {x}.register_hook(lambda g: g + 1)",
    "{x}.grad_fn; {x}.register_hook(lambda g: None)",
    "{x}.grad_fn; h = {x}.register_hook(lambda g: g * 3); h.remove()",
)
DTYPES = (
    "{x}.double()",
    "{x}.float()",
    "{x}.to(L.float64)",
    "{x}.to({y}.dtype)",
    "{x}.type_as({y})",
    "{x}.float() * {y}",
)
IN_PLACE_CALL = re.compile(r"(\w+)(?:\.\w+_\(| [-+*/]= (?:\S+ \* )?|\[[^\]]*\] [-+*/]?= )(\w+)")
OWN = "; {n} = {n} if {n} is None else {n}.clone()"
BACKWARD = (
    "{x}.sum().backward()",
    "({x} * {x}).sum().backward()",
    "({x} * {x}).sum().backward(retain_graph=True)",
    "{x}.backward(L.ones_like({x}), retain_graph=True)",
    "{x}.backward()",
    "s = ({x} * {y}).sum(); s.backward(retain_graph=True); s.backward()",
    "s = ({x} * {x}).sum(); s.backward(); s.backward()",
    # Whether a gradient is a view, how often its memory was written and how the graph of a recorded pass is spelt is
    # torch's own affair: programs go on with a clone.
    "{n} = L.autograd.grad(({x} * {x}).sum(), [{a}], allow_unused=True)[0]" + OWN,
    "{n} = L.autograd.grad(({x} * {x} * {x}).sum(), [{a}], create_graph=True, allow_unused=True)[0]" + OWN,
    "{n}, {m} = L.autograd.grad({x}.sum(), [{a}, {y}], retain_graph=True, allow_unused=True)"
    + OWN
    + OWN.replace("{n}", "{m}"),
    "{n} = L.autograd.grad({x}.sum(), [{a}])[0]" + OWN,
    "{n} = L.autograd.grad({x}, [{a}], L.ones_like({x}), create_graph=True, allow_unused=True)[0]" + OWN,
    "({x} * {x}).sum().backward(create_graph=True); {n} = {a}.grad; {a}.grad = None" + OWN,
    "({x} * {x}).sum().backward(inputs=[{a}], retain_graph=True)",
    "{a}.grad = None",
    "{a}.grad.zero_()",
)


class Writer:
    """Writes one program, running torch alongside."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.scope: dict = {"L": torch}
        self.count = 0

    def registers(self) -> list[str]:
        """The names that hold tensors of floats, oldest first."""
        kept = [n for n, v in self.scope.items() if isinstance(v, torch.Tensor) and n != "s"]
        return [n for n in kept if self.scope[n].is_floating_point() and self.scope[n].numel() <= 64]

    def fresh(self) -> str:
        """A new register's name."""
        self.count += 1
        return f"r{self.count}"

    def add(self, line: str) -> None:
        """Write a line and see what torch makes of it."""
        if self.undefined(line):
            return
        self.lines.append(line)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(of_line(line)[0], self.scope)
            except Exception:
                # an error is a program's outcome like any other
                pass

    def undefined(self, line: str) -> bool:
        """Whether a line writes memory that it reads elsewhere: torch then reads values old and new, as it comes."""
        found = IN_PLACE_CALL.search(line)
        if not found:
            return False
        x, y = (self.scope.get(n) for n in found.groups())
        if not (isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor)):
            return False
        if x is y:
            return (".t()" in line and x.dim() > 1 and not x.is_contiguous()) or (
                0 in x.stride() and "] = " in line
            )
        same = x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
        return same and (x.shape != y.shape or x.stride() != y.stride() or x.data_ptr() != y.data_ptr())

    def used(self, name: str) -> bool:
        """Whether a graph may know a register."""
        holds = re.compile(rf"\b{name}\b")
        return any(
            holds.search(line) and not line.startswith((f"{name} = ", "with L.no_grad(): " + name))
            for line in self.lines
        )

    def fill(self, text: str, x: str) -> Line:
        """A line from a template, with operands that fit more often than not."""
        rng, shape = self.rng, tuple(self.scope[x].shape)
        length = shape[0] if shape else 1
        i = rng.randrange(max(length, 1))
        fitting = [n for n in self.registers() if fits(tuple(self.scope[n].shape), shape)]
        y = rng.choice(fitting if fitting and rng.random() < 0.93 else self.registers())
        return text.format(
            x=x,
            y=y,
            a=rng.choice([n for n in self.registers() if n[0] == "a"] or [x]),
            d=rng.randrange(max(len(shape), 1)) - (rng.random() < 0.2),
            i=i if rng.random() < 0.95 else 7,
            j=min(i + rng.choice((1, 2)), max(length, 1)),
            n=self.fresh() if "{n}" in text else "",
            m=self.fresh() if "{m}" in text else "",
        )

    def step(self) -> None:
        """One random line."""
        rng = self.rng
        registers = self.registers()
        if not registers:
            return
        # young registers are the interesting ones
        x = rng.choice(registers if rng.random() < 0.5 else registers[-3:])
        if not self.scope[x].shape and rng.random() < 0.8:
            x = rng.choice(registers)
        kind = rng.choices(KINDS, WEIGHTS)[0]
        text = kind(rng)
        if kind is leaves and "L.no_grad(): {a}" in text:
            # torch remembers the former shape of a leaf as long as an older graph holds it
            free = [n for n in registers if n[0] == "a" and not self.used(n)]
            if not free:
                return
            text = text.replace("{a}", rng.choice(free))
        # most lines should do something, some should raise
        wanted = CAN.get(kind)
        if wanted and rng.random() < 0.93 and (able := [n for n in registers if wanted(self.scope[n])]):
            x = x if x in able else rng.choice(able)
        if "{n}" not in text and kind in NAMED:
            text = "{n}, *_ = " + text if kind is many and rng.random() < 0.3 else text
            text = "{n}, {m}, *_ = " + text if kind is many and "{n}" not in text else text
            text = "{n} = " + text if "{n}" not in text else text
        self.add(self.fill(text, x))

    def write(self) -> list[str]:
        """The whole program."""
        rng = self.rng
        for index in range(rng.choice((1, 2, 2, 3))):
            shape = rng.choice(((3, 3), (3, 3), (2, 3), (3,), (2, 2, 2), (1, 3), ()))
            grad = ", requires_grad=True" if rng.random() < 0.8 else ""
            dtype = "float64" if rng.random() < 0.95 else "float32"
            made = f"L.tensor({numbers(rng, shape)}, dtype=L.{dtype}"
            self.add(
                f"a{index} = " + (f"L.nn.Parameter({made}))" if rng.random() < 0.15 else f"{made}{grad})")
            )
        for index in range(rng.choice((0, 1, 1, 2))):
            # most writes need something that is not a leaf
            self.add(
                f"b{index} = a{rng.randrange(len(self.lines))} * 1.0" if index == 0 else "b1 = b0.clone()"
            )
        for _ in range(rng.randint(2, 11)):
            self.step()
        if rng.random() < 0.8:
            for k, n in enumerate(self.registers()):
                term = f"{n}.double().sum() * {k + 1}.0"
                term = f"({term}) ** 2" if rng.random() < 0.3 else term
                self.add(f"s = s + {term}" if k else f"s = {term}")
            self.add("s.backward()")
        return self.lines


def fits(small: tuple[int, ...], big: tuple[int, ...]) -> bool:
    """Whether the first shape broadcasts to the second."""
    if len(small) > len(big):
        return False
    return all(m in (1, n) for m, n in zip(small[::-1], big[::-1], strict=False))


def numbers(rng: random.Random, shape: tuple[int, ...]) -> list | float:
    """Nested lists of short numbers, none of them equal."""
    if not shape:
        return round(rng.uniform(-1.5, 1.5), 3)
    return [numbers(rng, shape[1:]) for _ in range(shape[0])]


def chooser(texts: tuple[str, ...]) -> Callable[[random.Random], str]:
    """A kind of line."""
    return lambda rng: rng.choice(texts)


unary, binary, views, many, changes = map(chooser, (UNARY, BINARY, VIEWS, MANY, IN_PLACE))
modes, dtypes, backwards = map(chooser, (MODES, DTYPES, BACKWARD))
leaves, zero_dims, inference, hooks, complexes, autocast = map(chooser, edges.FAMILIES)


def is_writable(tensor: torch.Tensor) -> bool:
    """Whether a write is likely to be allowed: not a leaf, nor a view of one."""
    try:
        base = tensor if tensor._base is None else tensor._base
        return not tensor.requires_grad or not (tensor.is_leaf or base.is_leaf)
    except RuntimeError:
        # one of several views whose base was written to may not even be asked
        return False


def reduce(rng: random.Random) -> str:
    """A reduction."""
    return "{x}." + rng.choice(REDUCE)


def product(rng: random.Random) -> str:
    """A matrix product of a tensor with itself, transposed."""
    return rng.choice(("{x} @ {x}.t()", "{x} @ {y}", "L.matmul({x}.transpose(0, -1), {y})", "L.mm({x}, {y})"))


KINDS = (unary, binary, reduce, product, views, many, changes, modes, dtypes, backwards)
KINDS += (leaves, zero_dims, inference, hooks, complexes, autocast)
WEIGHTS = (3, 4, 2, 1, 6, 3, 8, 4, 1, 2, 1.5, 2, 0.5, 0.5, 1, 0.3)
CAN = {
    changes: is_writable,
    backwards: lambda t: t.requires_grad,
    many: lambda t: bool(t.dim()),
    product: lambda t: t.dim() == 2,
}
NAMED = (unary, binary, reduce, product, views, many, dtypes)


def program(seed: int) -> list[str]:
    """The lines of the program with this seed."""
    return Writer(seed).write()
