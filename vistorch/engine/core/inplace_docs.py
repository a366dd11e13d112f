"""What `help` says of in-place methods: the words of the function each belongs to, and an example of its own.

A row: the method and its other names, what `x` is made from, the call, what it gives. Where there is no row, the
example is the function's own with the method in its place.
Invariant: an example here is run by tests/repository/test_examples.py, as no docstring in a file shows it.
"""

from __future__ import annotations

import ast
import re
from inspect import cleandoc
from typing import Any

# The new value is written into the memory that is there.
_WRITES = """
abs_ absolute_ | [-1.0, 2.0] | () | tensor([1., 2.])
acos_ arccos_ | [0.0, 1.0] | () | tensor([1.5708, 0.0000])
acosh_ arccosh_ | [1.0, 2.0] | () | tensor([0.0000, 1.3170])
add_ | [1.0, 2.0] | (3, alpha=2) | tensor([7., 8.])
addbmm_ | [[1]] | (vistorch.tensor([[[2]], [[3]]]), vistorch.tensor([[[4]], [[5]]])) | tensor([[24]])
addcdiv_ | [1.0, 2.0] | (x, x, value=10) | tensor([11., 12.])
addcmul_ | [1.0, 2.0] | (x, x, value=10) | tensor([11., 42.])
addmm_ | [[1, 1]] | (vistorch.tensor([[1, 2]]), vistorch.tensor([[3, 0], [4, 1]])) | tensor([[12,  3]])
addmv_ | [1, 1] | (vistorch.tensor([[1, 2], [0, 1]]), vistorch.tensor([3, 4])) | tensor([12,  5])
addr_ | [[1, 1]] | (vistorch.tensor([2]), vistorch.tensor([3, 4])) | tensor([[7, 9]])
asin_ arcsin_ | [0.0, 1.0] | () | tensor([0.0000, 1.5708])
asinh_ arcsinh_ | [0.0, 1.0] | () | tensor([0.0000, 0.8814])
atan_ arctan_ | [0.0, 1.0] | () | tensor([0.0000, 0.7854])
atan2_ arctan2_ | [1.0, 1.0] | (vistorch.tensor([1.0, -1.0])) | tensor([0.7854, 2.3562])
atanh_ arctanh_ | [0.0, 0.5] | () | tensor([0.0000, 0.5493])
baddbmm_ | [[[1]]] | (vistorch.tensor([[[2]]]), vistorch.tensor([[[4]]])) | tensor([[[9]]])
bitwise_and_ | [4, 5, 6] | (3) | tensor([0, 1, 2])
bitwise_left_shift_ | [1, 2, 4] | (1) | tensor([2, 4, 8])
bitwise_not_ | [0, 1, 2] | () | tensor([-1, -2, -3])
bitwise_or_ | [4, 5, 6] | (3) | tensor([7, 7, 7])
bitwise_right_shift_ | [1, 2, 4] | (1) | tensor([0, 1, 2])
bitwise_xor_ | [4, 5, 6] | (3) | tensor([7, 6, 5])
ceil_ | [-1.5, 1.5] | () | tensor([-1.,  2.])
clamp_ clip_ | [-2.0, 0.5, 2.0] | (-1, 1) | tensor([-1.0000,  0.5000,  1.0000])
clamp_max_ | [-2.0, 2.0] | (0) | tensor([-2.,  0.])
clamp_min_ | [-2.0, 2.0] | (0) | tensor([0., 2.])
conj_physical_ | [1 + 2j, 3j] | () | tensor([1.-2.j, 0.-3.j])
copysign_ | [1.0, -2.0] | (-1) | tensor([-1., -2.])
cos_ | [0.0, 1.0] | () | tensor([1.0000, 0.5403])
cosh_ | [0.0, 1.0] | () | tensor([1.0000, 1.5431])
cumprod_ | [1, 2, 3] | (0) | tensor([1, 2, 6])
cumsum_ | [1, 2, 3] | (0) | tensor([1, 3, 6])
deg2rad_ | [0.0, 180.0] | () | tensor([0.0000, 3.1416])
digamma_ | [1.0, 2.0] | () | tensor([-0.5772,  0.4228])
div_ divide_ | [-7.0, 7.0] | (2, rounding_mode="floor") | tensor([-4.,  3.])
eq_ | [1, 2, 3] | (2) | tensor([0, 1, 0])
erf_ | [0.0, 1.0] | () | tensor([0.0000, 0.8427])
erfc_ | [0.0, 1.0] | () | tensor([1.0000, 0.1573])
erfinv_ | [0.0, 0.5] | () | tensor([0.0000, 0.4769])
exp_ | [0.0, 1.0] | () | tensor([1.0000, 2.7183])
exp2_ | [0.0, 3.0] | () | tensor([1., 8.])
expm1_ | [0.0, 1.0] | () | tensor([0.0000, 1.7183])
float_power_ | [1.0, 2.0], dtype=vistorch.double | (3) | tensor([1., 8.], dtype=vistorch.float64)
floor_ | [-0.5, 1.5] | () | tensor([-1.,  1.])
floor_divide_ | [-7, 7] | (2) | tensor([-4,  3])
fmod_ | [-7, 7] | (3) | tensor([-1,  1])
frac_ | [-1.5, 1.25] | () | tensor([-0.5000,  0.2500])
gcd_ | [4, 6] | (vistorch.tensor([6, 9])) | tensor([2, 3])
ge_ greater_equal_ | [1, 2, 3] | (2) | tensor([0, 1, 1])
gt_ greater_ | [1, 2, 3] | (2) | tensor([0, 0, 1])
heaviside_ | [-1.0, 0.0, 2.0] | (vistorch.tensor([0.5])) | tensor([0.0000, 0.5000, 1.0000])
hypot_ | [3.0] | (vistorch.tensor([4.0])) | tensor([5.])
i0_ | [0.0, 1.0] | () | tensor([1.0000, 1.2661])
igamma_ | [1.0, 2.0] | (vistorch.tensor([1.0, 1.0])) | tensor([0.6321, 0.2642])
igammac_ | [1.0, 2.0] | (vistorch.tensor([1.0, 1.0])) | tensor([0.3679, 0.7358])
index_add_ | [1, 1, 1] | (0, vistorch.tensor([2, 0, 2]), vistorch.tensor([5, 6, 7])) | tensor([ 7,  1, 13])
index_copy_ | [1, 1, 1] | (0, vistorch.tensor([2, 0]), vistorch.tensor([5, 6])) | tensor([6, 1, 5])
index_fill_ | [1, 2, 3] | (0, vistorch.tensor([2, 0]), -1) | tensor([-1,  2, -1])
index_reduce_ | [1, 2] | (0, vistorch.tensor([1, 1]), vistorch.tensor([5, 6]), "amax") | tensor([1, 6])
lcm_ | [4, 6] | (vistorch.tensor([6, 9])) | tensor([12, 18])
ldexp_ | [1.0, 3.0] | (vistorch.tensor([2, -1])) | tensor([4.0000, 1.5000])
le_ less_equal_ | [1, 2, 3] | (2) | tensor([1, 1, 0])
lerp_ | [0.0, 10.0] | (vistorch.tensor([1.0, 20.0]), 0.5) | tensor([ 0.5000, 15.0000])
lgamma_ | [1.0, 4.0] | () | tensor([0.0000, 1.7918])
log_ | [1.0, 10.0] | () | tensor([0.0000, 2.3026])
log10_ | [1.0, 10.0] | () | tensor([0., 1.])
log1p_ | [0.0, 1.0] | () | tensor([0.0000, 0.6931])
log2_ | [1.0, 8.0] | () | tensor([0., 3.])
logical_and_ | [True, True, False] | (vistorch.tensor([True, False, False])) | tensor([ True, False, False])
logical_not_ | [0, 1, 2] | () | tensor([1, 0, 0])
logical_or_ | [True, True, False] | (vistorch.tensor([True, False, False])) | tensor([ True,  True, False])
logical_xor_ | [True, True, False] | (vistorch.tensor([True, False, False])) | tensor([False,  True, False])
logit_ | [0.5, 0.9] | () | tensor([0.0000, 2.1972])
lt_ less_ | [1, 2, 3] | (2) | tensor([1, 0, 0])
masked_fill_ | [1, 2, 3] | (x > 1, 0) | tensor([1, 0, 0])
masked_scatter_ | [1, 2, 3] | (x > 1, vistorch.tensor([5, 6])) | tensor([1, 5, 6])
mul_ multiply_ | [1.0, 2.0] | (3) | tensor([3., 6.])
mvlgamma_ | [3.0, 4.0] | (2) | tensor([1.5502, 3.5651])
nan_to_num_ | [1.0, float("nan")] | (nan=2.0) | tensor([1., 2.])
ne_ not_equal_ | [1, 2, 3] | (2) | tensor([1, 0, 1])
neg_ negative_ | [1.0, -2.0] | () | tensor([-1.,  2.])
nextafter_ | [1.0] | (vistorch.tensor([2.0])).item() | 1.0000001192092896
polygamma_ | [1.0, 2.0] | (1) | tensor([1.6449, 0.6449])
pow_ | [1.0, 2.0, 3.0] | (2) | tensor([1., 4., 9.])
put_ | [[1, 1, 1]] | (vistorch.tensor([2, 0]), vistorch.tensor([5, 6])) | tensor([[6, 1, 5]])
rad2deg_ | [0.0, 1.0] | () | tensor([ 0.0000, 57.2958])
reciprocal_ | [4.0, 5.0] | () | tensor([0.2500, 0.2000])
remainder_ | [-7, 7] | (3) | tensor([2, 1])
renorm_ | [[3.0, 4.0]] | (p=2, dim=0, maxnorm=1) | tensor([[0.6000, 0.8000]])
round_ | [0.5, 1.5, 2.6] | () | tensor([0., 2., 3.])
rsqrt_ | [4.0, 16.0] | () | tensor([0.5000, 0.2500])
scatter_ | [1, 1, 1] | (0, vistorch.tensor([2, 0]), vistorch.tensor([5, 6])) | tensor([6, 1, 5])
scatter_add_ | [1, 1, 1] | (0, vistorch.tensor([2, 0, 2]), vistorch.tensor([5, 6, 7])) | tensor([ 7,  1, 13])
scatter_reduce_ | [1, 2] | (0, vistorch.tensor([1, 1]), vistorch.tensor([5, 6]), "amax") | tensor([1, 6])
sgn_ | [3 + 4j, 0j] | () | tensor([0.6000+0.8000j, 0.0000+0.0000j])
sigmoid_ | [0.0, 2.0] | () | tensor([0.5000, 0.8808])
sign_ | [-2.0, 0.0, 3.0] | () | tensor([-1.,  0.,  1.])
sin_ | [0.0, 1.0] | () | tensor([0.0000, 0.8415])
sinc_ | [0.0, 0.5] | () | tensor([1.0000, 0.6366])
sinh_ | [0.0, 1.0] | () | tensor([0.0000, 1.1752])
sqrt_ | [4.0, 9.0] | () | tensor([2., 3.])
square_ | [1.0, -3.0] | () | tensor([1., 9.])
sub_ subtract_ | [5.0, 6.0] | (vistorch.tensor([1.0, 2.0])) | tensor([4., 4.])
tan_ | [0.0, 1.0] | () | tensor([0.0000, 1.5574])
tanh_ | [0.0, 1.0] | () | tensor([0.0000, 0.7616])
tril_ | [[1, 2, 3]] | () | tensor([[1, 0, 0]])
triu_ | [[1, 2, 3]] | (1) | tensor([[0, 2, 3]])
true_divide_ | [1.0, 7.0] | (2) | tensor([0.5000, 3.5000])
trunc_ fix_ | [-1.5, 1.5] | () | tensor([-1.,  1.])
xlogy_ | [0.0, 2.0] | (vistorch.tensor([0.0, 3.0])) | tensor([0.0000, 2.1972])
"""
# The tensor becomes its own view.
_VIEWS = """
as_strided_ | [1, 2, 3] | ((2,), (2,)) | tensor([1, 3])
squeeze_ | [[1, 2]] | () | tensor([1, 2])
swapaxes_ swapdims_ transpose_ | [[1], [2]] | (0, 1) | tensor([[1, 2]])
t_ | [[1], [2]] | () | tensor([[1, 2]])
unsqueeze_ | [1, 2] | (0) | tensor([[1, 2]])
"""
# Where the function says "a copy", which the variant does not make.
_MEANINGS = {
    "conj_physical_": "Turn the imaginary parts over.",
    "index_copy_": "Write slices of a source where an index points along a dim.",
    "index_fill_": "Write one value into the slices along a dim that an index names.",
    "masked_fill_": "Write one value wherever the mask is True.",
    "masked_scatter_": "Write the elements of a source, one after the other, where the mask is True.",
    "put_": "Write, or add, elements at positions of the flat tensor.",
}
_WHERE = {
    _WRITES: "The tensor itself is overwritten and returned; `{0}` leaves it alone.",
    _VIEWS: "The tensor itself becomes that view and is returned; `{0}` leaves it alone.",
}
_DOC = """{meaning}

{where}

{arguments}

Example:
    >>> import vistorch
    >>> x = {made}
    >>> x.{call}
    {gives}
"""
_EXAMPLES = re.compile(r"^ *>>> (vistorch\..*)\n((?: *(?!>>>)\S.*\n?)+)", re.MULTILINE)
_NOT_HERE = re.compile(r"\n +(?:out|\*\*names): .*")  # arguments of the function alone


def describe(methods: dict[str, Any], functions: dict[str, Any]) -> None:
    """Give every in-place variant its docstring.

    Args:
        methods: those of Tensor, by name.
        functions: those of `vistorch`, by name.
    """
    for rows, where in _WHERE.items():
        for row in rows.strip().splitlines():
            labels, given, call, gives = row.split(" | ")
            for label in labels.split():
                fn, stem = methods[label], label[:-1]
                of = (functions.get(stem) or methods[stem]).__doc__
                if of is None or (fn.__doc__ and ">>>" in fn.__doc__):
                    continue  # python -OO; or the same object under another name
                meaning, _, rest = cleandoc(of).partition("\n\n")
                fn.__doc__ = _DOC.format(
                    meaning=_MEANINGS.get(label, meaning),
                    where=where.format(stem),
                    arguments=_NOT_HERE.sub("", rest[rest.find("Args:") :].partition("Example:")[0].rstrip()),
                    made=f"vistorch.tensor({given})",
                    call=label + call,
                    gives=gives,
                )
    for label, fn in methods.items():
        function = (functions.get(label[:-1]) or methods.get(label[:-1])) if label.endswith("_") else None
        if function is not None and function.__doc__ and ">>>" not in (fn.__doc__ or ""):
            fn.__doc__ = _derived(function.__doc__, label)


def _derived(of: str, label: str) -> str:
    """The docstring of a variant that has no row: its function's, and the same call with the method in its place."""
    text, stem = cleandoc(of), label[:-1]
    meaning, _, rest = text.partition("\n\n")
    arguments = _NOT_HERE.sub("", rest[rest.find("Args:") :].partition("Example:")[0].rstrip())
    where = _WHERE[_WRITES].format(stem)
    for line, gives in _EXAMPLES.findall(text):
        call = ast.parse(line, mode="eval").body
        if isinstance(call, ast.Call) and ast.unparse(call.func) == f"vistorch.{stem}" and call.args:
            first, *more = map(ast.unparse, call.args)
            more += [f"{one.arg}={ast.unparse(one.value)}" for one in call.keywords]
            written = f"{label}({', '.join(more)})"
            return _DOC.format(
                meaning=meaning,
                where=where,
                arguments=arguments,
                made=first,
                call=written,
                gives=gives.strip(),
            )
    return "\n\n".join((meaning, where, arguments))
