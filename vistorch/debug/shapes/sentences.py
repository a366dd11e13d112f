"""The rules of layers, indices, types and gradients; `rules.py` has those of arithmetic and says what a rule is.

Invariant: importing this module adds its rules, and nothing else.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from .record import Operand
from .rules import (
    DIMS,
    SIZE,
    Given,
    Verdict,
    arrive,
    both,
    dims,
    marked,
    of_shape,
    pairs,
    replace_op,
    rule,
    unequal,
)


@rule(
    r"(?:must be equal to input_size\. Expected|was expecting embedding dimension of) (\d+), (?:but )?got (\d+)"
)
@rule(r"input has inconsistent input_size: got (?P<got>\d+) expected (?P<wants>\d+)")
def _features(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    named = m.groupdict()
    wants, got = (int(named["wants"]), int(named["got"])) if named else (int(m[1]), int(m[2]))
    a = next((one for one in given if one.shape and one.shape[-1] == got), None)
    if a is None:
        return None
    b = next(
        (
            one
            for one in given
            if one is not a and one.shape and one.shape[-1] == wants and len(one.shape) == 2
        ),
        None,
    )
    said = f"{takes or 'the layer'} takes {wants} features, {arrive(got)}."
    if b is not None and b.argument.startswith(("w", "in_proj")):
        return replace_op(unequal(a, b, -1, -1, said), "→")
    return replace_op(unequal(a, Operand("taken", (*a.shape[:-1], wants)), -1, -1, said), "→")


@rule(r"Expected hidden(?:\[\d\])? size [\[\(]([\d, ]+)[\]\)], got [\[\(]([\d, ]+)[\]\)]")
def _hidden(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    return both(of_shape(given, dims(m[2]), "hidden"), Operand("expected", dims(m[1])), "→")


@rule(
    r"argument #\d+ '(\w+)' to have one of the following scalar types: ([\w, ]+); but got (?:\w+\.)*(\w+)Tensor instead"
)
def _kind(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    a = next((one for one in given if one.argument in (m[1], "input") and one.note == m[3].lower()), None)
    if a is None:
        return None
    others = [replace(one, note="") for one in given if one is not a]
    wanted = " or ".join(
        "int64" if word == "Long" else "int32" for word in m[2].split(", ") if word in ("Long", "Int")
    )
    note = TYPES.get(m[3].lower(), m[3].lower())
    said = f"{a.name} holds {note}, and indices must be {wanted or m[2]}: {a.name}.long() makes them so."
    return Verdict(said, [replace(a, note=note), *others])


TYPES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "byte": "uint8",
}
C_TYPES = {"long int": "long", "c10::half": "half", "signed char": "char", "unsigned char": "byte"}


@rule(r"to have the same dtype, but got: ([\w: ]+) != ([\w: ]+)")
def _dtypes(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    said = [str(word).strip().lower() for word in m.groups()]
    kinds = [C_TYPES.get(word, word) for word in said]
    for a, b in pairs(given):
        if [a.note, b.note] == kinds:
            notes = [TYPES.get(kind, kind) for kind in kinds]
            said = f"{a.name} is {notes[0]}, {b.name} is {notes[1]}: both must have the same dtype."
            return Verdict(said, [replace(a, note=notes[0]), replace(b, note=notes[1])])
    return None


@rule(r"inconsistent tensor size, expected tensor \[(\d+)\] and src \[(\d+)\]")
def _dotted(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    p, q = (int(m[1]),), (int(m[2]),)
    found = next(((a, b) for a, b in pairs(given) if (a.shape, b.shape) == (p, q)), None)
    return None if found is None else both(*found, "·")


@rule(
    r"subscript (\w) has size (\d+) for operand (\d+) which does not broadcast with previously seen size (\d+)"
)
def _einsum(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    q, nr, p = int(m[2]), int(m[3]), int(m[4])
    if nr >= len(given) or given[nr].shape.count(q) != 1:
        return None
    before = [one for one in given[:nr] if one.shape.count(p) == 1]
    if not before:
        return None
    a, b = before[-1], given[nr]
    said = f"Subscript {m[1]} is {p} in {a.name} and {q} in {b.name}: they must be equal."
    return replace_op(unequal(a, b, a.shape.index(p), b.shape.index(q), said), "einsum")


@rule(
    rf"shape of the mask {DIMS} at index (\d+) does not match the shape of the indexed tensor {DIMS} at index (\d+)"
)
def _mask(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    a, b = of_shape(given, dims(m[3]), "the tensor"), of_shape(given, dims(m[1]), "the mask")
    i, j = int(m[4]), int(m[2])
    if i >= len(a.shape) or j >= len(b.shape):
        return None
    said = f"{b.name} masks {b.shape[j]} entries where {a.name} has {a.shape[i]}."
    return replace_op(unequal(a, b, i, j, said), "[ ]")


@rule(rf"value tensor of shape {DIMS} cannot be broadcast to indexing result of shape {DIMS}")
def _value(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    return both(
        Operand("chosen", dims(m[2])), of_shape(given, dims(m[1]), "the value"), "=", "the value must fit"
    )


@rule(r"indexing tensors could not be broadcast together with shapes ((?:\[[\d, ]*\](?:, )?)+)")
def _indices(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    shapes = [dims(part) for part in m[1].strip("[]").split("], [")]
    if len(shapes) != 2:
        return None
    a, b = [of_shape(given, shape, f"index {i}") for i, shape in enumerate(shapes)]
    return both(a, b, ",", "they are used side by side")


@rule(rf"output with shape {DIMS} doesn't match the broadcast shape {DIMS}")
def _outgrown(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    a = of_shape(given, dims(m[1]), "the target")
    return both(a, Operand("result", dims(m[2])), "=", "the result must fit into its memory")


@rule(rf"grad_output\[\d+\] has a shape of {SIZE} and output\[\d+\] has a shape of {SIZE}")
def _upstream(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    a = of_shape(given, dims(m[2]), "output")
    return both(a, of_shape([one for one in given if one is not a], dims(m[1]), "gradient"), "backward")


@rule(
    rf"(\w+)Backward\w* returned an invalid gradient at index (\d+) - got {DIMS} but expected shape .*? {DIMS}"
)
def _returned(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    a, b = Operand(f"gradient {m[2]} of {m[1]}", dims(m[3])), Operand("its input", dims(m[4]))
    return both(a, b, "backward", "a gradient has the shape of its input")


@rule(
    rf"size mismatch for ([\w.]+): copying a param with shape {SIZE} from checkpoint, the shape in .*? is {SIZE}"
)
def _loaded(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    a, b = Operand(f"{m[1]} in the file", dims(m[2])), Operand(f"{m[1]} in the model", dims(m[3]))
    return both(a, b, "→", "what is loaded must fit")


@rule(r"Incompatible shapes of A and B for the equation AX = B \((\d+)x\d+ and (\d+)x\d+\)")
def _solved(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    for a, b in pairs(given):
        if min(len(a.shape), len(b.shape)) > 1 and (a.shape[-2], b.shape[-2]) == (int(m[1]), int(m[2])):
            said = f"{a.name} has {m[1]} rows, {b.name} has {m[2]}: they must be equal."
            return unequal(a, b, -2, -2, said)
    return None


@rule(r"first has size (\d+) in dim (-?\d+) and second has size (\d+) in dim (-?\d+)")
def _contracted(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    p, i, q, j = map(int, m.groups())
    for a, b in pairs(given):
        fit = -len(a.shape) <= i < len(a.shape) and -len(b.shape) <= j < len(b.shape)
        if fit and (a.shape[i], b.shape[j]) == (p, q):
            return unequal(
                a, b, i, j, f"{a.name} has {p} in dimension {i}, {b.name} has {q} in dimension {j}."
            )
    return None


@rule(r"must have the same number of columns\. X1: (\d+) X2: (\d+)")
def _columns(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    for a, b in pairs(given):
        if a.shape and b.shape and (a.shape[-1], b.shape[-1]) == (int(m[1]), int(m[2])):
            return unequal(
                a, b, -1, -1, f"{a.name} has {m[1]} columns, {b.name} has {m[2]}: they must be equal."
            )
    return None


@rule(r"must be batches of square matrices, but they are (\d+) by (\d+) matrices")
def _square(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    a = next((one for one in given if one.shape[-2:] == (int(m[1]), int(m[2]))), None)
    if a is None:
        return None
    said = f"{a.name} has {m[1]} rows and {m[2]} columns: it must be square."
    return Verdict(said, [marked(a, -2, -1)], sides=[("rows", int(m[1])), ("columns", int(m[2]))])


@rule(r"expected (\dD(?:,? or \dD)*) input \(got (\d)D input\)")
@rule(r"Expected (\dD.*?) input to (\w+), but got input of size: ")
def _rank(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    a = next((one for one in given if one.shape), None)
    if a is None:
        return None
    count = len(a.shape)
    said = (
        f"{takes or 'the op'} takes {m[1]} input, {a.name} has {count} dimension{'' if count == 1 else 's'}."
    )
    return Verdict(said, [marked(a, *range(count))])


@rule(
    r"expects split_sizes to sum exactly to (\d+) \(input tensor's size at dimension (-?\d+)\).*?=\[([\d, ]*)\]"
)
def _split(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    has, at, parts = int(m[1]), int(m[2]), dims(m[3])
    a = next((one for one in given if -len(one.shape) <= at < len(one.shape) and one.shape[at] == has), None)
    if a is None:
        return None
    said = f"Dimension {at} of {a.name} is {has}, the parts {list(parts)} add up to {sum(parts)}."
    return Verdict(said, [marked(a, at)], "split", sides=[(a.name, has), ("parts", sum(parts))])


@rule(r"input\.size\(-3\)=(\d+) is not divisible by (\d+)")
@rule(
    rf"number of channels in input to be divisible by num_groups, but got input of shape {DIMS} and num_groups=(\d+)"
)
def _divided(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    whole = m[1] if "," in m[1] else ""
    a = of_shape(given, dims(whole), "input") if whole else next((o for o in given if len(o.shape) > 2), None)
    if a is None or len(a.shape) < 2:
        return None
    at = 1 if whole else len(a.shape) - 3
    if not math.prod(a.shape) or a.shape[at] % int(m[2]) == 0:
        return None
    return Verdict(f"{a.name} has {a.shape[at]} channels, which {m[2]} does not divide.", [marked(a, at)])


@rule(r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)")
def _outside(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    at, has = int(m[2]), int(m[3])
    a = next((one for one in given if at < len(one.shape) and one.shape[at] == has), None)
    if a is None:
        return None
    return Verdict(
        f"Dimension {at} of {a.name} is {has}: its last index is {has - 1}, asked for is {m[1]}.",
        [marked(a, at)],
    )
