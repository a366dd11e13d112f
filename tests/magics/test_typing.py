"""What a person types and sees: the overview, help, and one line for every mistake."""

import gc

import pytest

from vistorch.vt.expression import evaluate

PROGRAM = """
import vistorch
from vistorch import nn
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
x = vistorch.ones(3, 4)
"""


def test_the_overview_fits_one_screen(type_in):
    text = type_in("%vt").out
    lines = text.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100
    assert lines[0].startswith("vistorch ")
    for name in ("show", "vars", "device", "torch", "export", "doctor"):
        assert f"%vt {name}" in text


def test_the_overview_stays_one_screen_with_many_devices(type_in):
    type_in("%vt device simulate 60")
    lines = type_in("%vt").out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("line", ["%vt?", "%vt ?", "%vt??", "%vt --help", "%vt -h", "  %vt?"])
def test_help_of_the_magic(type_in, line):
    typed = type_in(line)
    assert typed.out.startswith("vistorch ")
    assert "from vistorch import vt" in typed.out


@pytest.mark.parametrize("line", ["%vt show?", "%vt show??", "%vt show ?", "%vt show --help", "%%vt show?"])
def test_help_of_a_command(type_in, line):
    typed = type_in(line)
    assert typed.out.startswith("%vt show EXPRESSION [options]")
    assert "Examples:\n  %vt show " in typed.out
    assert "--scale" in typed.out


def test_a_question_in_a_text_stays_a_text(type_in):
    typed = type_in('print("""\n%vt show?\n""")')
    assert typed.out == "\n%vt show?\n\n"
    assert type_in("len?").result.success


def test_help_of_what_is_not_there(sentence):
    assert sentence("%vt shwo?") == "there is no command 'shwo'; did you mean show?"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("%vt nothing", "there is no command 'nothing': type `%vt` to see which there are"),
        ("%vt devic", "there is no command 'devic'; did you mean device?"),
        ("%vt show", "`%vt show` needs a tensor, parameter, array, module, dict or list: type `%vt show x`"),
        ("%vt show modle[0]", "NameError: name 'modle' is not defined; did you mean model?"),
        (
            "%vt compare qqqqq b",
            "name 'qqqqq' is not defined: type `%%vt record qqqqq` on a cell's first line",
        ),
        ("%vt show qqqqq", "NameError: name 'qqqqq' is not defined: type `%vt vars` to see what there is"),
        ("%vt show model[0].wieght", "has no attribute 'wieght'; did you mean weight"),
        ("%vt show x[", "SyntaxError: '[' was never closed in `x[`: type one Python expression"),
        ("%vt show x y", "SyntaxError: invalid syntax in `x y`: type one Python expression"),
        ("%vt show 1 / 0", "ZeroDivisionError: division by zero"),
        ("%vt show x @ x", "RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x4 and 3x4)"),
        ("%vt show (_ for _ in ()).throw(KeyError('a\\nb'))", "KeyError: "),
        ("%vt show x --sclae log", "`%vt show` has no option --sclae; did you mean --scale"),
        ("%vt show x --qqqq", "`%vt show` has no option --qqqq: type `%vt show?`"),
        ("%vt show x --scale lg", "--scale does not take 'lg': type --scale "),
        ("%vt show x --size", "--size needs a value: type --size PIXELS"),
        ("%vt show x --size --grad", "--size needs a value: type --size PIXELS"),
        ("%vt show x --size big", "--size does not take 'big': type --size PIXELS"),
        ("%vt show x --grad=yes", "--grad takes no value: type --grad alone"),
        ("%vt torch maybe", "`%vt torch` takes on or off, not 'maybe'"),
        ("%vt torch on off", "`%vt torch` does not take 'off': type `%vt torch on`"),
        ("%vt vars x", "`%vt vars` does not take 'x': type `%vt vars`"),
        ("%vt vars --sort size", "--sort does not take 'size': type --sort name, kind,"),
        ("%vt device gpu", "there is no device 'gpu'; did you mean cpu?"),
        ("%vt device mps", "there is no device 'mps': type `%vt device` to see which there are"),
        ("%vt device cuda:x", "RuntimeError: Invalid device string: 'cuda:x'"),
        (
            "%vt device simulate",
            "say how many devices to simulate: type `%vt device simulate 4`, or 0 for none",
        ),
        ("%vt device simulate four", "`%vt device` takes how many CUDA devices to simulate"),
        (
            "%vt device simulate 1000",
            "ValueError: simulate() takes a number of devices from 0 to 64, got 1000",
        ),
        ("%vt device cuda 1", "type `%vt device cuda:1` for that device, or `%vt device simulate 1`"),
        ("%vt export", "`%vt export` needs a file that ends in .html, .svg or .png: type `%vt export "),
        ("%vt export a.txt", "'a.txt' does not say what to write: end it in .html, .svg or .png"),
        ("%%vt\nx", "say what to do with the cell; type `%%vt trace`"),
        ("%%vt show x\nx", "`show` takes no cell: type `%vt show "),
    ],
)
def test_a_mistake_is_one_line(type_in, sentence, line, says):
    assert type_in(PROGRAM).result.success
    assert says in sentence(line)


def test_a_failed_expression_keeps_nothing_alive(type_in, shell):
    type_in("import weakref\nclass Big: pass\nbig = Big()\nref = weakref.ref(big)")
    assert type_in("%vt show big.nothing").err.startswith("UsageError: AttributeError: ")
    assert type_in("del big").result.success
    gc.collect()
    assert shell.user_ns["ref"]() is None


def test_braces_and_dollars_are_the_expression_s_own(type_in, sentence):
    type_in("a = 1")
    assert sentence("%vt show {a}").startswith("cannot show a set: ")
    assert sentence("%vt show '$a'").startswith("cannot show a str: ")
    assert sentence("%vt show {'a': a, '$a': b}").startswith("NameError: name 'b' is not defined")


def test_names_of_a_running_function_are_seen(type_in, sentence):
    type_in("def f():\n    inner_name = 1\n    get_ipython().run_line_magic('vt', 'show inner_nam')")
    assert sentence("f()") == "NameError: name 'inner_nam' is not defined; did you mean inner_name?"


def test_nothing_is_written_into_the_namespace(type_in, shell):
    before = set(shell.user_ns)
    type_in("%vt show (walrus := 1) / 0")
    assert set(shell.user_ns) - before <= {"_i", "_ii", "_iii", "_i1", "_i2", "_exit_code"}
    assert "walrus" not in shell.user_ns


def test_an_expression_reads_and_does_not_write():
    names = {"a": 1}
    assert evaluate("[(b := a), (c := b + 1)]", names) == [1, 2]
    assert names == {"a": 1}
