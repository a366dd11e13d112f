"""A sentence that names a thing of this library names it as the program does: `torch.` under the alias.

Invariant: every sentence in the source is looked at, so that a new one cannot forget; the bad calls of all operators
are made under both names in `tests/ops/test_bad_input.py`.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import vistorch
from tests.compat.run import python
from vistorch.engine.library_name import library, named

ROOT = Path(vistorch.__file__).parent
OURS_ALONE = ("debug", "magics.py", "rank_workers", "torch_source", "vt", "widgets")
NAME = re.compile(r"\bvistorch(\.[\w{]|::)")
# What writes a sentence, whatever it is made of; `not_built` and `once` put the name in themselves.
NAMES_IT = {"named", "not_built", "once"}
CONSTANT = re.compile(r"_?[A-Z][A-Z_]+")


def text(node: ast.AST) -> str | None:
    """The text of a literal, with {} where a value goes; None of anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text(part) or "{" for part in node.values)
    return None


def called(node: ast.AST) -> str:
    """The name of the function that a call calls."""
    found = node.func if isinstance(node, ast.Call) else None
    return found.id if isinstance(found, ast.Name) else found.attr if isinstance(found, ast.Attribute) else ""


def forgetful(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Sentences that say `vistorch.` whatever the program calls it."""
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

    def around(node: ast.AST) -> Iterator[ast.AST]:
        while node in above:
            node = above[node]
            yield node

    constants = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and NAME.search(" ".join(filter(None, map(text, ast.walk(node)))))
        for target in node.targets
        if isinstance(target, ast.Name) and CONSTANT.fullmatch(target.id)
    }
    for node in ast.walk(tree):
        said = text(node)
        if isinstance(node, ast.Name) and node.id in constants and isinstance(node.ctx, ast.Load):
            said = f"vistorch.{node.id}"
        if said is None or not NAME.search(said):
            continue
        outer = list(around(node))
        names = [called(n) for n in outer]
        written = any(isinstance(n, ast.Raise) for n in outer) or any(
            name in ("warn", "once") or name.endswith("Error") for name in names
        )
        if written and not NAMES_IT & set(names):
            yield getattr(node, "lineno", 0), said


def sources() -> list[Path]:
    """The files whose sentences PyTorch has too."""
    return [p for p in sorted(ROOT.rglob("*.py")) if p.relative_to(ROOT).parts[0] not in OURS_ALONE]


def test_every_sentence_names_the_library_as_the_program_does():
    found = [
        f"{path.relative_to(ROOT)}:{line}: {said}"
        for path in sources()
        for line, said in forgetful(ast.parse(path.read_text()))
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        'def f(x):\n    raise ValueError("vistorch.cat: no")',
        'def f(x):\n    raise ValueError(f"vistorch.{x}: no")',
        'def f(x):\n    warnings.warn("use vistorch.cat")',
        'SAID = "use vistorch.cat"\ndef f(x):\n    raise ValueError(SAID.format(x))',
    ],
)
def test_a_sentence_that_forgets_is_found(source):
    assert list(forgetful(ast.parse(source)))


SENTENCES = """
import warnings
nn = torch.nn
warnings.simplefilter("always")

def said(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:
            print(type(error).__name__, error)
    for one in caught:
        print(one.category.__name__, one.message)

x = torch.ones(2, 3)
said(lambda: torch.cat([]))
said(lambda: torch.tensor(x))
said(lambda: torch.hsplit(torch.tensor(1.0), 2))
said(lambda: torch.zeros(2, dtype=3))
said(lambda: torch.device("cuda", "x"))
said(lambda: torch.finfo(torch.int32))
said(lambda: torch.Size(["a"]))
said(lambda: torch.symeig(x))
said(lambda: torch.range(0, 2))
said(lambda: torch.ones(2, dtype=torch.complex64).sign())
said(lambda: torch.meshgrid(torch.ones(2), torch.ones(2)))
said(lambda: nn.Module().register_parameter("a", 3))
said(lambda: setattr(nn.Linear(2, 2), "weight", x))
said(lambda: nn.utils.clip_grad_norm([nn.Parameter(x)], 1.0))
said(lambda: nn.Linear(2, 2, device="meta").to("cpu"))
said(lambda: nn.Linear(2, 2).load_state_dict({"weight": 3, "bias": torch.ones(2)}))
said(lambda: torch.autograd.variable(1))
said(lambda: x.requires_grad_().sum().backward(torch.ones(3)))
said(lambda: torch.utils.checkpoint.checkpoint(lambda y: y, x))
said(lambda: torch.cholesky(torch.eye(2)))
said(lambda: torch.nothing_of_this_name)
said(lambda: nn.nothing_of_this_name)
said(lambda: torch.Generator().set_state(3))
said(lambda: torch.lu_unpack(torch.eye(2), torch.ones(2)))
said(lambda: torch.amp.autocast("cpu")(3))
said(lambda: torch.ones(1).type("torch.FooTensor"))
said(lambda: nn.functional.binary_cross_entropy(1, x))
said(lambda: torch.UntypedStorage("a"))
said(lambda: torch.load(3))
"""


def sentences(before):
    done = python("-c", before + SENTENCES)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_sentences_under_the_alias_are_pytorchs():
    theirs = sentences("import torch, torch.utils.checkpoint\n")
    ours = sentences("from vistorch.compat import alias_torch\nalias_torch()\nimport torch\n")
    own = sentences("import vistorch as torch\n")
    assert "vistorch." not in ours
    assert re.sub(r"\bvistorch(?=[.'])", "torch", own) == ours
    assert ours == re.sub(r" \(Triggered internally at .*", "", theirs)


def test_a_bare_name_stays_and_torchvision_is_a_package_of_its_own(monkeypatch):
    sentence = "vistorch has no graphs; write it with vistorch.nn and vistorch.vision.ops."
    assert named(sentence) == sentence
    monkeypatch.setattr(library, "name", "torch")
    assert named(sentence) == "vistorch has no graphs; write it with torch.nn and torchvision.ops."
    with warnings.catch_warnings(), pytest.raises(NotImplementedError, match=r"^torchvision\.models\.segm"):
        vistorch.vision.models.segmentation.fcn_resnet50()
