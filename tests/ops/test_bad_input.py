"""Bad input: torch's kind of exception, in its words and not numpy's, and no operand changed.

Invariant: a bad call that torch refuses is refused with the same type of exception.
"""

import re

import vistorch
from tests.ops.bad import Bad, End, bad_calls, ended
from tests.ops.library import L, Report, function_of, torch
from tests.ops.record import Op
from tests.ops.samples import for_each
from tests.ops.test_forms import equal
from vistorch.engine.library_name import library

NUMPY_WORDS = re.compile(
    r"operands could not be broadcast|cannot reshape array|ufunc|\baxis\b|setting an array element|"
    r"could not convert string|matmul: Input operand|is out of bounds for (axis|size)|all the input array|"
    r"invalid literal|an integer is required|operand has a mismatch|numpy|array\(s\)|the array|arrays? must|"
    r"_UFunc|not supported for the input types|input array|has no attribute|not subscriptable|referenced before|"
    r"Unable to allocate|Maximum allowed dimension|dtype\(|object cannot be interpreted"
)
INSIDES = (AttributeError, UnboundLocalError, NameError, KeyError, AssertionError, ZeroDivisionError)


# Bad calls that end otherwise here on purpose: (record, label, torch's sentence) as patterns, and why.
DIFFERENT = (
    (
        r"pow|mvlgamma|special\.ndtr|threshold|fft\.fftfreq",
        r"out=expanded",
        r"^$",
        "refused as by other ops; torch resizes it, or writes one element over and over",
    ),
    (r"addr", r"out=expanded", r"more than one element", "resized first, it overlaps no more"),
    (
        r".*",
        r"10{30}",
        r"int too big to convert",
        "a number of more than 64 bits counts as a float, or is refused",
    ),
    (
        r".*",
        r"10{30}",
        r"Overflow when unpacking",
        "64 bits are too few: any refusal in torch's words will do",
    ),
    (
        r"isnan|isinf|isfinite|isreal|sum|prod|median|nanmedian|argsort",
        r"out=",
        r".",
        "takes out= in every form",
    ),
    (r"sort", r"out=", r"invalid combination", "the tuple's dtypes are looked at first"),
    (
        r"bitwise_not|searchsorted",
        r"out=|0\.1",
        r"must be Tensor|invalid combination",
        "of two faults, the other",
    ),
    (r".*", r"is|extra", r"object has no attribute", "a TypeError where torch fails in its own Python"),
    (r"scatter", r"reduce is None", r"invalid combination", "None is the default"),
    (r"(cumulative_)?trapezoid|trapz", r"0\.1 is None", r"invalid combination", "None is the default"),
    (r"(cumulative_)?trapezoid|trapz", r"shape \(\)", r"must match", "one point has no width"),
    (r"index_fill", r"0\.1", r"complex Scalar", "of two faults, the other"),
    (
        r"index_(add|reduce)",
        r"0\.3 has shape \(\)",
        r"must match|no dimensions",
        "torch says either, by its kernel",
    ),
    (r"combinations", r"1000", r"multiplication overflow", "there is no such row: nothing is multiplied"),
    (r"nuclear_norm", r"0\.1 is None", r"invalid combination", "None is the default"),
    (r"narrow_copy", r".", r"^Expected ", "torch asserts what narrow explains"),
    (r"lu_unpack", r"has shape", r"^$|pivots passed", "pivots beyond the matrix are refused"),
    (r"linalg\.lstsq", r"nan", r"INTERNAL ASSERT", "nan in the right side gives nan"),
    (r"linalg\.cond", r"0\.1", r"invalid combination", "the norm type is refused by its value"),
    (r"normal", r"nan", r"std >= 0", "a deviation of nan gives nan"),
    (r"view_as_complex(_copy)?", r"float16", r"^$", "there is no complex32"),
    (r"broadcast_shapes", r".", r"", "torch lets sizes pass that are none"),
    (r"Tensor\.__getitem__.*", r"text", r"too many indices", "a str is no sequence of indices"),
    (r"linalg\.solve_triangular", r"is of", r"^$", "torch reads the memory of one dtype as another"),
    (r"lstm", r"0\.0 has shape \(\)", r"linear", "of two faults, the other"),
    (
        r"native_batch_norm",
        r"0\.[0-4] has shape",
        r"^$",
        "torch looks at as many weights as there are channels, and reads past the end of fewer",
    ),
    (r"nn\.functional\.ctc_loss", r"0\.0 has shape \(\)", r"out of range", "of two faults, the other"),
    (r"(nn\.functional\.)?ctc_loss", r"0\.1 is -?10+$", r"^$", "torch reads other memory for such a label"),
    (r"nn\.functional\.softmin", r"strings", r"ufunc", "torch lets numpy negate its strings"),
    (
        r"nn\.functional\.conv_transpose.d|convolution",
        r"0\.[02] is of",
        r"^$|slow_conv",
        "torch's slow kernels take a bias of any type; here it has the input's, as everywhere else",
    ),
    (r".*scaled_dot_product.*", r"has shape", r"^$", "torch reads past the end of what is shorter"),
    (r"Tensor\.__.*__", r".", r"^$", "torch hands an operand it does not know to the other side"),
)


def is_known(op: Op, bad: Bad, theirs: End) -> bool:
    """Whether the two are meant to end in different ways: a reference is no judge of arguments."""
    if op.reference is not None:
        return True
    said = "" if theirs.error is None else str(theirs.error)
    return any(
        re.fullmatch(name, op.name) and re.search(label, bad.label) and re.search(words, said)
        for name, label, words, _ in DIFFERENT
    )


def judge(mine: End, theirs: End, known: bool) -> str:
    """Say what is wrong with how ours ended, or nothing; `known`: it may end otherwise, but in torch's words."""
    if mine.error is None:
        return "" if known or theirs.error is None else f"permissive: torch {theirs.said}"
    kind = type(mine.error)
    same = theirs.error is not None and type(theirs.error).__name__ in {c.__name__ for c in kind.__mro__}
    both = f"{mine.said}, torch {theirs.said}"
    if same and str(mine.error).replace("vistorch", "torch") == str(theirs.error):
        return ""
    if kind.__module__.partition(".")[0] == "numpy" or "/numpy/" in mine.files[-1]:
        return f"numpy: {both}"
    if NUMPY_WORDS.search(str(mine.error)) and not (same and NUMPY_WORDS.search(str(theirs.error))):
        return f"words: {both}"
    if not same and isinstance(mine.error, INSIDES):
        return f"insides: {both}"
    if known:
        return ""
    if theirs.error is None:
        return f"refuses: {both}"
    return "" if same else f"type: {both}"


def named_as_torch(op: Op, bad: Bad, mine: End) -> str:
    """Say what a refusal calls the library while `import torch` gives it, where that is wrong; or nothing."""
    said = str(mine.error)
    if L is not vistorch or "vistorch." not in said:
        return ""
    call = bad.build(L)
    library.name = "torch"
    try:
        again = ended(lambda: function_of(op, L)(*call.args, **call.kwargs))
    finally:
        library.name = "vistorch"
    wanted = said.replace("vistorch.", "torch.")
    return "" if str(again.error) == wanted else f"name: under the alias {again.said}, not {wanted}"


def compare(op: Op, bad: Bad) -> str:
    """One bad call in both libraries."""
    reference, call = bad.build(torch), bad.build(L)
    theirs = ended(lambda: function_of(op, torch)(*reference.args, **reference.kwargs))
    if theirs.error is not None and "/samples/" in theirs.files[-1]:
        return ""  # the record's own function cannot take it
    before, versions = call.snapshot(), [tensor._version for tensor in call.tensors]
    mine = ended(lambda: function_of(op, L)(*call.args, **call.kwargs))
    message = judge(mine, theirs, is_known(op, bad, theirs)) or named_as_torch(op, bad, mine)
    if not message and mine.error is not None:
        if not equal(before, call.snapshot()):
            message = f"changed: an operand changed, {mine.said}"
        elif versions != [tensor._version for tensor in call.tensors]:
            message = f"version: an operand's version went up, {mine.said}"
    return message


@for_each("bad_input")
def test_bad_input(op: Op) -> None:
    """Each argument wrong in its turn."""
    report = Report(op)
    for bad in bad_calls(op):
        report.add(compare(op, bad), bad.sample, bad.label)
    report.finish(0)
