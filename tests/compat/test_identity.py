"""What a program under the alias is shown says `torch`, and says it where PyTorch has the thing; else `vistorch`."""

import importlib
import json
import textwrap

import pytest

from tests.compat.run import python
from tests.ops.library import torch

BEFORE = "from vistorch.compat import alias_torch\n"


def run(program):
    done = python("-c", textwrap.dedent(program))
    assert done.returncode == 0, done.stderr
    return done.stdout


TEXTS = """
import pickle, io, sys
import torch.nn as nn, torch.utils.data, torch.optim, torch.distributions
print(torch.__name__, torch.nn.functional.__name__, torch.torch is torch)
print(torch.empty(5, 3).size(), repr(torch.Size([1])), torch.ones(2, dtype=torch.float64))
print(type(torch.ones(1)), torch.dtype, torch.device, type(torch.ones(1).size()))
print(nn.Linear, nn.MultiheadAttention, nn.Parameter, nn.TransformerEncoderLayer, nn.LSTMCell)
print(torch.optim.SGD, torch.optim.lr_scheduler.StepLR, torch.autograd.Function)
print(torch.utils.data.DataLoader, torch.distributions.Normal, torch.nn.utils.rnn.PackedSequence)
print(torch.ones(1).type(), torch.typename(torch.ones(1)), torch.typename(nn.Linear(1, 1)))
print(torch.strided, torch.channels_last, torch.ones(2).untyped_storage().__class__, torch.FloatTensor)
print(torch.ones(2, 2).max(0), torch.finfo(torch.float16), nn.functional.relu.__module__)
print(torch.LongTensor([1]), torch.zeros(2).long().dtype, {"t": torch.int32})
try:
    torch.ones(2).numpy().sum(torch.ones(1))
except TypeError as error:
    pass
try:
    nn.Embedding(2, 2)(torch.ones(2))
except RuntimeError as error:
    print(error)
model = nn.Sequential(nn.Linear(2, 2), nn.MultiheadAttention(4, 2), nn.Dropout())
print(sorted({type(m).__module__ for m in pickle.loads(pickle.dumps(model)).modules()}))
"""


def test_texts_are_pytorchs():
    expected = run("import torch\n" + TEXTS.replace(", torch.torch is torch", ", True"))
    assert run(BEFORE + "alias_torch()\nimport torch\n" + TEXTS) == expected
    assert run(BEFORE + "import vistorch\nalias_torch()\nimport torch\n" + TEXTS) == expected


def test_without_the_alias_everything_says_vistorch():
    own = "import vistorch as torch, vistorch.nn as nn, vistorch.optim, vistorch.distributions, vistorch.utils.data\n"
    program = own + TEXTS.replace(", torch.torch is torch", ", True").replace(
        "import torch.nn as nn, torch.utils.data, torch.optim, torch.distributions", ""
    )
    fresh = run(program)
    assert "torch." in fresh and "torch." not in fresh.replace("vistorch.", "")
    assert run(BEFORE + "with alias_torch():\n    import torch, torch.nn\n" + program) == fresh


def test_versions():
    out = run(
        BEFORE
        + """
import importlib.metadata as metadata, vistorch
own = vistorch.__version__
with alias_torch():
    import torch, torchvision
    from torch.torch_version import TorchVersion
    assert type(torch.__version__) is TorchVersion
    print(torch.__version__, torch.version.__version__, metadata.version("torch"))
    print(torchvision.__version__, metadata.version("torchvision"))
    print(torch.__version__ >= (2, 9), torch.__version__ > "2.9", torch.__version__ == "2.13.0+vistorch")
    print(torch.__version__ < "3", torch.__version__ >= "2.13.0", torch.__version__.split("+"))
    print(metadata.metadata("torch")["Name"], [d.version for d in metadata.distributions(name="torchvision")][0])
    print(metadata.version("numpy").count(".") > 0)
print(vistorch.__version__ == own, hasattr(vistorch, "torch"), vistorch.vision.__name__)
"""
    )
    assert out.splitlines() == [
        "2.13.0+vistorch 2.13.0+vistorch 2.13.0+vistorch",
        "0.28.0+vistorch 0.28.0+vistorch",
        "True True True",
        "True True ['2.13.0', 'vistorch']",
        "torch 0.28.0+vistorch",
        "True",
        "True False vistorch.vision",
    ]


@pytest.fixture(scope="module")
def renamed():
    """Every class and function that says it is PyTorch's, once all that is public is loaded."""
    return json.loads(
        run(
            BEFORE
            + """
alias_torch()
import importlib, json, sys, torch, torchvision.transforms, torchvision.models, torchvision.datasets
from tests.compat.test_names import MODULES
from vistorch.engine.base.namespace import _own
for name in MODULES:
    try:
        importlib.import_module("torch." + name)
    except ModuleNotFoundError:
        pass
print(json.dumps([(thing.__module__, thing.__qualname__) for thing in _own]))
""".replace(
                "from tests.compat.test_names import MODULES",
                f"MODULES = {__import__('tests.compat.test_names', fromlist=['MODULES']).MODULES[2:]!r}",
            )
        )
    )


def test_what_says_torch_is_found_there(renamed):
    assert len(renamed) > 500
    absent = []
    for module, name in renamed:
        if module.startswith("torchvision"):
            continue
        try:
            found = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError):
            absent.append(f"{module}.{name}")
    assert absent == []
    assert torch.nn.Linear.__module__ in {module for module, _ in renamed}


def test_a_saved_module_is_the_same_file_with_the_alias_and_without():
    out = run(
        BEFORE
        + """
import io, hashlib, vistorch
def saved():
    vistorch.manual_seed(0)
    f = io.BytesIO()
    vistorch.save([vistorch.nn.Linear(2, 2), vistorch.float64, vistorch.Size([2]), vistorch.optim.SGD], f)
    f.seek(0)
    vistorch.load(f, weights_only=False)
    return f.getvalue()
first = saved()
with alias_torch():
    import torch
    second = saved()
print(first == second == saved(), b"vistorch" in first)
"""
    )
    assert out == "True False\n"


def test_our_own_tools_know_our_tensors_under_the_alias():
    out = run(
        BEFORE
        + """
alias_torch()
import torch
from vistorch.debug.source import is_torch, real_torch, source_of
print(is_torch(torch.ones(2)), is_torch(torch.nn.Linear(1, 1)), real_torch(), source_of(torch.ones(2)).name)
"""
    )
    assert out == "False False None vistorch\n"


VERSIONS = (
    "1 1.0 1.13.1 2.0.0a0 2.0.0rc1 2.0.0 2.9 2.10 2.13.0 2.13.0+vistorch 2.13.0.dev1 2.13.0.post1 3".split()
)


@pytest.mark.parametrize("text", VERSIONS)
def test_versions_compare_as_pytorchs(text):
    from torch.torch_version import TorchVersion as Theirs

    from vistorch.torch_version import TorchVersion as Ours

    for other in (*VERSIONS, (1, 9), (2, 13), (2, "13"), [2, 13, 0], "main"):
        for how in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__"):
            assert getattr(Ours(text), how)(other) is getattr(Theirs(text), how)(other), (other, how)
