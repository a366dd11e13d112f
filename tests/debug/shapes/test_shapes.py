"""Shape errors: what is drawn is what was given, under the names of the line; nothing else is touched."""

import json
import linecache

import pytest

import vistorch
from tests.debug.shapes.campaign import campaign
from tests.debug.shapes.cases import CASES, NAMES, Net
from tests.ops.samples import OPS
from vistorch.debug.shapes import explain
from vistorch.widgets.shape.picture import paint

torch = pytest.importorskip("torch", reason="torch is the reference")


def scope():
    nn = vistorch.nn
    made = {name: vistorch.zeros(shape) for name, shape in NAMES.items()}
    made |= {"torch": vistorch, "nn": nn, "F": nn.functional, "model": Net(), "table": nn.Embedding(5, 3)}
    made |= {"net": nn.Sequential(nn.Linear(8, 16), nn.Linear(84, 10)), "k": vistorch.zeros(8, 1, 5, 5)}
    made |= {"y": vistorch.zeros(16).long(), "i": vistorch.tensor([0, 1]), "j": vistorch.tensor([0, 1, 2])}
    return made | {"whole": vistorch.zeros(4, 4).long(), "p": vistorch.zeros(5, requires_grad=True)}


def failure(line, names=None):
    """The exception of a line, run as a cell is."""
    source = f"def step():\n    global v, w\n    {line}\nstep()\n"
    file = f"<ipython-input-7-{abs(hash(line)):012x}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    with pytest.raises(Exception) as caught:
        exec(compile(source, file, "exec"), scope() if names is None else names)
    return caught.value


@pytest.mark.parametrize("line", CASES)
def test_what_is_drawn(line):
    operands, sentence, module = CASES[line]
    error = failure(line)
    before = str(error), error.__traceback__, getattr(error, "__notes__", None)
    record = explain(error)
    assert record is not None
    assert [(one.name, one.shape, one.marks) for one in record.operands] == operands
    assert sentence in record.sentence and record.module == module
    assert record.error == f"{type(error).__name__}: {error}"
    if "Net" not in line and "model" not in line:
        assert record.place == "cell [7], line 3" and record.source[-2][1:] == (f"    {line}", "hit")
    assert before == (str(error), error.__traceback__, getattr(error, "__notes__", None))
    text, state = record.text(), record.wire()
    assert all(name in text for name, _, _ in operands)
    json.dumps(state)
    drawn = state["drawing"]
    for kind, x, y, *_ in drawn["parts"]:
        assert 0 <= x <= drawn["width"] and 0 <= y <= drawn["height"], kind
    assert b"<svg" in paint(record) and paint(record) == paint(record) != paint(record, "dark")


@pytest.mark.parametrize("line", [line for line in CASES if "model" not in line and "net(" not in line])
def test_the_sentence_is_torchs(line):
    """What the rules read is what PyTorch says, so they read PyTorch's sentences."""
    names = {}
    for name, value in scope().items():
        if isinstance(value, vistorch.Tensor):
            value = torch.tensor(value.detach().numpy(), requires_grad=value.requires_grad)
        names[name] = value
    names |= {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "table": torch.nn.Embedding(5, 3)}
    one, other = failure(line), failure(line, names)
    plain = str(other).replace("torch.", "vistorch.")
    assert (type(one).__name__, str(one).split(". Got")[0]) == (type(other).__name__, plain.split(". Got")[0])


def test_marks_are_under_their_sides():
    record = explain(failure("a @ b"))
    last, marks = record.text().splitlines()[-2:]
    assert [last[i] for i, mark in enumerate(marks) if mark == "^"] == ["4", "5"]


def test_other_exceptions_are_not_explained():
    for line in (
        "1 / 0",
        "[][3]",
        "int('a')",
        "torch.zeros(2).mean(dim='a')",
        "a.backward()",
        "raise ValueError('x')",
    ):
        assert explain(failure(line)) is None
    assert explain(ValueError("never raised")) is None
    assert explain(RuntimeError("mat1 and mat2 shapes cannot be multiplied (3x4 and 5x6)")) is None
    # another library's sentence about shapes is not ours
    error = failure("raise RuntimeError('mat1 and mat2 shapes cannot be multiplied (3x4 and 5x6)')")
    assert explain(error) is None


def test_the_cause_of_an_exception_is_explained_and_a_context_is_not():
    cause = "\n    try: a @ b\n    except RuntimeError as e: raise ValueError('mine'){}"
    assert explain(failure(cause.format(" from e"))).sentence.startswith("a has 4 columns")
    assert explain(failure(cause.format(""))) is None


def test_a_name_that_was_rebound_is_not_used():
    names = scope() | {"f": lambda a: vistorch.zeros(9, 9) @ a}
    record = explain(failure("f(b)", names))
    assert [one.shape for one in record.operands] == [(9, 9), (5, 6)]
    assert record.operands[1].name == "a"


def test_a_users_own_backward():
    class Wrong(vistorch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g[:2]

    record = explain(failure("Wrong.apply(p).sum().backward()", scope() | {"Wrong": Wrong}))
    assert [(one.shape, one.marks) for one in record.operands] == [((2,), (0,)), ((5,), (0,))]


def test_a_loader_in_this_process_and_in_a_worker():
    data = [vistorch.zeros(2, 3), vistorch.zeros(2, 4)]
    for workers in (0, 1):
        names = scope() | {"L": vistorch.utils.data.DataLoader(data, batch_size=2, num_workers=workers)}
        record = explain(failure("next(iter(L))", names))
        if workers:
            assert record is None  # its frames are in another process
        else:
            assert [(one.shape, one.marks) for one in record.operands] == [((2, 3), (1,)), ((2, 4), (1,))]


class Strange:
    """Something whose every attribute raises."""

    def __getattr__(self, name):
        raise RuntimeError(f"{name} was asked for")

    __class__ = property(lambda self: 1 / 0)


def test_strangers_in_the_frames_are_left_alone():
    names = scope() | {"strange": Strange(), "_x": Strange()}
    assert explain(failure("strange2 = strange; a @ b", names)).sentence.startswith("a has 4")


def test_many_dimensions_long_names_and_large_sizes():
    long = "a_name_that_is_much_longer_than_it_should_be"
    names = scope() | {
        long: vistorch.zeros(2, 1, 3, 1, 7, 8),
        "z": vistorch.zeros(2, 4, 3, 1, 9, 5),
        "none": vistorch.zeros(0, 3),
    }
    record = explain(failure(f"{long} @ z", names))
    assert record.operands[0].shape == (2, 1, 3, 1, 7, 8) and record.operands[0].name != long
    paint(record)
    record = explain(failure("none @ a[:0]", names | {"a": vistorch.zeros(2, 10**6)}))
    assert record.operands[1].marks == (0,)
    paint(record)


def test_no_exception_of_any_op_breaks_the_drawing():
    tried, explained = campaign(OPS[7::40])
    assert tried > 100 and explained > 10
