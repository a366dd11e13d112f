"""Programs that try to leave their memory: `python -m tests.fuzz.memory --programs 100000 --seed 0 --jobs 1`.

Views, `as_strided`, `set_`, `resize_`, `out=`, empty tensors, DLPack, storages and indices, with sizes nobody means, on
memory between guards. Invariant: a program that reads or writes outside ends its process, changes the pattern around
the array, or leaves a tensor whose elements lie outside; each of the three is reported with its seed.
"""

import argparse
import copy
import pickle
import random
import resource
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np

import vistorch
from tests.fuzz.guarded import Guarded, inside

TYPES = ("uint8", "int16", "float32", "float64", "complex64", "bool", "float16", "bfloat16", "int64")
VIEWS = (
    "{x}.as_strided({size}, {stride})",
    "{x}.as_strided({small}, {stride})",
    "{x}.as_strided({small}, {small})",
    "{x}.as_strided({size}, {stride}, {k})",
    "{x}.as_strided({size}, {small}, {n})",
    "{x}.as_strided({small}, {small}, {n})",
    "{x}.as_strided_({size}, {stride})",
    "{x}.as_strided_({small}, {small}, {n})",
    "L.as_strided_copy({x}, {small}, {small}, {n})",
    "L.as_strided_scatter({x}, {y}, {small}, {small}, {n})",
    "{x}.unfold({d}, {n}, {k})",
    "{x}.diagonal({k}, {d}, {e})",
    "{x}.expand({size})",
    "{x}.expand(2, *{x}.shape)",
    "{x}.view({size})",
    "{x}.view(-1)",
    "{x}.reshape({small})",
    "{x}.view(L.{type})",
    "{x}[{n}:{m}]",
    "{x}[{n}:{n}]",
    "{x}[..., {n}:]",
    "{x}[::2]",
    "{x}[..., ::3]",
    "{x}[..., 1:2]",
    "{x}.narrow({d}, {n}, {m})",
    "{x}.select({d}, {n})",
    "{x}.t()",
    "{x}.transpose({d}, {e})",
    "{x}.squeeze()",
    "{x}.unsqueeze({d})",
    "{x}.split({n})[-1]",
    "{x}.chunk({n})[0]",
    "{x}.detach()",
    "{x}.data",
    "{x}.mT",
    "{x}.movedim({d}, {e})",
    "{x}.unflatten({d}, {small})",
    "L.view_as_real({x})",
    "L.view_as_complex({x})",
    "L.from_dlpack({x})",
    "L.from_dlpack({x}.numpy())",
    "L.from_dlpack({x}.numpy()[::-1])",
    "L.from_dlpack({x}.__dlpack__())",
    "L.from_numpy({x}.numpy())",
    "L.asarray({x}.numpy())",
    "L.frombuffer(memory, dtype=L.{type}, count={k}, offset={n})",
    "L.empty_strided({small}, {small}, dtype=L.{type}).zero_()",
    "L.empty_strided({size}, {stride}, dtype=L.{type})",
    "L.empty(0, dtype={x}.dtype).set_({x}.untyped_storage(), {n}, {small}, {small})",
    "L.empty(0, dtype={x}.dtype).set_({x}, {n}, {small}, {small})",
    "L.empty(0, dtype={x}.dtype).set_({x}.untyped_storage()[{n}:{m}])",
    "{x}.set_({y})",
    "{x}.set_({y}, {n}, {small}, {small})",
    "{x}.set_({y}.untyped_storage(), {k}, {size}, {stride})",
    "{x}.set_({x}.untyped_storage(), {n}, {small}, {small})",
    "{x}.set_({x}.untyped_storage())",
    "{x}.set_()",
    "{x}.resize_({small})",
    "{x}.resize_({size})",
    "{x}.resize_as_({y})",
    "copy.deepcopy({x})",
    "pickle.loads(pickle.dumps({x}))",
    "{x}.clone()",
    "{x}.contiguous()",
    "L.zeros({small}, dtype={x}.dtype)",
    "L.zeros(0, {n}, dtype={x}.dtype)",
)
WRITES = (
    "{x}.fill_(1)",
    "{x}.zero_()",
    "{x}.add_(1)",
    "{x}.mul_({y})",
    "{x}.copy_({y})",
    "{x}[{n}] = 1",
    "{x}[{n}:{m}] = {y}",
    "{x}[{index}] = 1",
    "{x}[{x} > 0] = 1",
    "{x}.put_({index}, {x})",
    "{x}.index_fill_({d}, {index}, 1)",
    "{x}.index_add_({d}, {index}, {y})",
    "{x}.index_copy_({d}, {index}, {y})",
    "{x}.scatter_({d}, {index}, {y})",
    "{x}.scatter_({d}, {index}, 1)",
    "{x}.masked_fill_({y} > 0, 1)",
    "{x}.masked_scatter_({y} > 0, {z})",
    "{x}.index_put_(({index},), {y})",
    "{x}.untyped_storage().fill_(1)",
    "{x}.untyped_storage()[{n}:{m}] = 1",
    "{x}.untyped_storage()[{k}] = 1",
    "{x}.untyped_storage().copy_({y}.untyped_storage())",
    "{x}.data = {y}",
    "{x}.t_()",
    "{x}.unsqueeze_({d})",
    "{x}.squeeze_()",
    "{x}.transpose_({d}, {e})",
    "{x}.swapaxes_({d}, {e})",
    "L.add({x}, {y}, out={z})",
    "L.mul({x}, 2, out={x})",
    "L.sum({x}, out={z})",
    "L.cat([{x}, {y}], out={z})",
    "L.stack([{x}, {x}], out={z})",
    "L.index_select({x}, {d}, {index}, out={z})",
    "L.gather({x}, {d}, {index}, out={z})",
    "L.take({x}, {index}, out={z})",
    "L.where({x} > 0, {x}, {y}, out={z})",
    "L.sort({x}, out=({y}, {index}))",
    "L.arange({n}, out={z})",
    "L.cumsum({x}, {d}, out={z})",
    "{x}.random_()",
)
READS = (
    "{x}.sum()",
    "{x}.clone()",
    "{x} + {y}",
    "{x}[{index}]",
    "{x}.take({index})",
    "{x}.gather({d}, {index})",
    "{x}.index_select({d}, {index})",
    "{x}[{y} > 0]",
    "{x}.tolist()",
    "repr({x})",
    "{x}.cumsum({d})",
    "{x}.sort({d})",
    "{x}.unique()",
    "{x}.flip({d})",
    "{x}.roll({k}, {d})",
    "{x}.repeat({small})",
    "{x}.float().unfold({d}, {n}, {m}).sum()",
    "L.bincount({index})",
    "L.nn.functional.embedding({index}, L.ones({n}, 2))",
    "L.nn.functional.one_hot({index})",
    "L.nn.functional.pad({x}, ({n}, -{m}))",
    "L.nn.functional.unfold({x}.float().reshape(1, 1, 1, -1), (1, {n}), {m}, {n}, {m})",
    "L.nn.functional.conv1d({x}.float().reshape(1, 1, -1), L.ones(1, 1, {n}), None, {m}, {n}, {m})",
    "L.nn.functional.conv2d({x}.float().reshape(1, 1, 1, -1), L.ones(1, 1, 1, {n}), None, {m}, {n}, {k})",
    "L.nn.functional.conv_transpose1d({x}.float().reshape(1, 1, -1), L.ones(1, 1, {n}), None, {m}, {n})",
    "L.nn.functional.max_pool1d({x}.float().reshape(1, 1, -1), {n}, {m}, {n}, {m})",
    "L.nn.functional.avg_pool1d({x}.float().reshape(1, 1, -1), {n}, {m})",
    "L.nn.functional.max_unpool1d({x}.float().reshape(1, 1, -1), {index}.reshape(1, 1, -1), {n}, {m})",
    "L.nn.functional.interpolate({x}.float().reshape(1, 1, -1), {n})",
    "{x}.float().detach().requires_grad_().as_strided({small}, {small}, {n}).sum().backward()",
    "{x}.float().detach().requires_grad_()[{index}].sum().backward()",
    "{x}.untyped_storage().tolist()",
    "{x}.untyped_storage().clone()",
    "{x}.untyped_storage()[{k}]",
)
KINDS, WEIGHTS = (VIEWS, WRITES, READS), (6, 4, 3)
HUGE = (2**31, 2**61, 2**62, 2**62 + 1, 2**63 - 1, 2**63, 2**64, -1, -2, -(2**62))


class Writer:
    """The lines of one program: a template, operands, and numbers that fit, nearly fit, or cannot be meant."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def near(self) -> int:
        """A number about as large as the tensors are."""
        return self.rng.choice((0, 0, 1, 1, 2, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17))

    def any(self) -> int:
        """A number of any size."""
        rng = self.rng
        return rng.choice(HUGE) if rng.random() < 0.5 else self.near()

    def line(self, names: list[str], made: str) -> str:
        """One line that gives its result a name."""
        rng = self.rng
        text = rng.choice(rng.choices(KINDS, WEIGHTS)[0])
        length = rng.choice((0, 1, 1, 1, 2, 2, 3))

        def tuple_of(number: Any) -> str:
            return "(" + "".join(f"{number()}, " for _ in range(length)) + ")"

        filled = text.format(
            x=rng.choice(names),
            y=rng.choice(names),
            z=rng.choice(names),
            n=self.near(),
            m=self.near(),
            k=self.any(),
            d=rng.choice((0, 0, 0, -1, 1, 2)),
            e=rng.choice((0, 1, -1, -2)),
            size=tuple_of(self.any),
            stride=tuple_of(self.any),
            small=tuple_of(self.near),
            type=rng.choice(TYPES),
            index=f"L.tensor({[rng.choice((0, 1, 2, 3, -1, 8, 99, -99)) for _ in range(rng.randrange(4))]}, "
            "dtype=L.int64)",
        )
        statement = " = " in text.split("(")[0] or "] = " in text
        return filled if statement else f"{made} = {filled}"


GUARDS: list[Guarded] = []


def run(seed: int) -> tuple[str, list[str]]:
    """What is wrong after the program of this seed ("" if nothing), and its lines."""
    if not GUARDS:
        GUARDS.extend((Guarded(), Guarded()))
    guards = (GUARDS[0], GUARDS[1])
    writer = Writer(seed)
    rng = writer.rng
    memory = bytearray(rng.choice((1, 8, 24)))
    scope: dict[str, Any] = {"L": vistorch, "copy": copy, "pickle": pickle, "memory": memory}
    names = []
    for name, guard in zip("ab", guards, strict=True):
        kind = np.dtype(rng.choice(("u1", "f4", "f8", "i8", "?", "c8")))
        scope[name] = vistorch.from_numpy(guard.array(rng.choice((0, 1, 4, 9, 16)), kind, rng.random() < 0.7))
        names.append(name)
    lines: list[str] = []
    for i in range(rng.randint(3, 9)):
        lines.append(writer.line(names, f"t{i}"))
        try:
            exec(lines[-1], scope)
        except Exception:
            pass  # a refusal is the right answer to most of these
        for name, value in list(scope.items()):
            if not isinstance(value, vistorch.Tensor):
                continue
            if not inside(value._data, guards):
                return f"{name} reaches outside its memory: {value.shape} {value._data.strides}", lines
            if value._data.size > 4096 or value._data.ndim > 6:
                del scope[name]  # nobody waits for those
        names = [name for name, value in scope.items() if isinstance(value, vistorch.Tensor)]
        if not names:
            break
    if not all(guard.intact() for guard in guards):
        return "the bytes around an array were written", lines
    return "", lines


def child(start: int, stop: int) -> int:
    """Run the programs start .. stop, each seed announced before it runs."""
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    warnings.simplefilter("ignore")
    for seed in range(start, stop):
        print(seed, flush=True)
        wrong, lines = run(seed)
        if wrong:
            print(f"seed {seed}: {wrong}", *lines, sep="\n    ", file=sys.stderr)
            return 1
    return 0


def fuzz(programs: int, seed: int = 0, jobs: int = 1) -> list[str]:
    """What went wrong in so many programs, in processes that may die of it."""
    end, step = seed + programs, -(-programs // max(jobs, 1))
    found: list[str] = []
    waiting = [(start, min(start + step, end)) for start in range(seed, end, step)]
    while waiting:
        running = []
        for start, stop in waiting:
            command = [sys.executable, "-m", "tests.fuzz.memory", "--child", str(start), str(stop)]
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
            running.append((stop, subprocess.Popen(command, **pipes)))
        waiting = []
        for stop, process in running:
            seen, said = process.communicate()
            if process.returncode:
                last = int(seen.split()[-1]) if seen.split() else -1
                found.append(
                    said.strip() if process.returncode == 1 else f"seed {last}: {process.returncode}"
                )
                if 0 <= last < stop - 1 and len(found) < 20:
                    waiting.append((last + 1, stop))
    return found


def main(arguments: list[str] | None = None) -> int:
    """The command line; exit status 1 if a program left its memory."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.memory")
    parser.add_argument("--programs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--child", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        return child(*options.child)
    begun = time.perf_counter()
    found = fuzz(options.programs, options.seed, options.jobs)
    print(*found, sep="\n")
    print(
        f"{options.programs} programs, {len(found)} left their memory ({time.perf_counter() - begun:.0f} s)"
    )
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
