"""What PyTorch's modules hold because they import it themselves: programs take it from there, and find it here."""

import importlib
import types

import pytest

from tests.ops.library import torch
from vistorch.torch_api import rare_names

MODULES = """
    nn.modules.activation nn.modules.batchnorm nn.modules.normalization nn.modules.rnn nn.modules.transformer
    nn.parallel.parallel_apply nn.parallel.replicate optim.adadelta optim.adagrad optim.adam optim.adamax optim.adamw
    optim.asgd optim.nadam optim.radam optim.rmsprop optim.rprop optim.sgd optim.sparse_adam utils.data.dataloader
    utils.data.distributed
""".split()
# Why a name is not there.
LACKING = {
    "it is a part of quantization": "NonDynamicallyQuantizableLinear",
    "it is a part of a kernel of CUDA": "sync_batch_norm",
    "it mixes into PyTorch's own lazy layers": "LazyModuleMixin",
    "PyTorch gave it up": "apply_permutation IterDataPipe MapDataPipe",
    "only type checkers read it": "T TYPE_CHECKING",
    "it carries an error between PyTorch's own threads": "ExceptionWrapper",
}
WRITTEN = {name for names in LACKING.values() for name in names.split()}


def of_torch(value):
    home = getattr(value, "__module__", None)
    return not isinstance(value, types.ModuleType) and (not isinstance(home, str) or home.startswith("torch"))


@pytest.mark.parametrize("module", MODULES)
def test_each_public_name_of_the_module_is_there(module):
    theirs = importlib.import_module(f"{torch.__name__}.{module}")
    ours = importlib.import_module(f"vistorch.{module}")
    public = [name for name in dir(theirs) if not name.startswith("_") and of_torch(getattr(theirs, name))]
    assert public and not [name for name in public if name not in WRITTEN and not hasattr(ours, name)]


@pytest.mark.parametrize("module", MODULES)
def test_what_is_held_is_the_thing_itself_and_not_listed(module):
    ours = importlib.import_module(f"vistorch.{module}")
    before = dir(ours)
    for name, where in rare_names.held(rare_names.VALUES, module).items():
        home, _, known = where.rpartition(":")
        assert getattr(ours, name) is getattr(importlib.import_module(f"vistorch.{home}".rstrip(".")), known)
    assert dir(ours) == before
