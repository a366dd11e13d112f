"""Every public name of PyTorch is here, but for the ones that `missing.py` lists with a reason."""

import fnmatch
import functools
import importlib
import types
import warnings

import pytest

from tests.compat.missing import MISSING
from tests.compat.run import python
from tests.ops.library import L, torch

MODULES = """
    torch Tensor accelerator amp autograd autograd.forward_ad autograd.function autograd.functional autograd.grad_mode
    autograd.graph autograd.profiler backends backends.cuda backends.cudnn backends.mps backends.mkldnn backends.openmp
    compiler cpu cuda cuda.amp cuda.memory cuda.nvtx cuda.random cuda.streams distributions distributions.constraints
    distributions.kl distributions.transforms fft func functional futures hub jit
    linalg multiprocessing nn nn.attention nn.functional nn.grad nn.init nn.parallel nn.parameter nn.utils
    nn.utils.clip_grad nn.utils.parametrizations nn.utils.parametrize nn.utils.prune nn.utils.rnn nn.utils.stateless
    optim optim.lr_scheduler optim.optimizer optim.swa_utils overrides profiler random serialization signal.windows
    sparse special storage testing types utils utils.checkpoint utils.data utils.data.dataloader utils.data.dataset
    utils.data.distributed utils.data.sampler utils.dlpack utils.hooks version
    nn.modules nn.modules.activation nn.modules.adaptive nn.modules.batchnorm nn.modules.channelshuffle
    nn.modules.container nn.modules.conv nn.modules.distance nn.modules.dropout nn.modules.flatten nn.modules.fold
    nn.modules.instancenorm nn.modules.lazy nn.modules.linear nn.modules.loss nn.modules.module
    nn.modules.normalization nn.modules.padding nn.modules.pixelshuffle nn.modules.pooling nn.modules.rnn
    nn.modules.sparse nn.modules.transformer nn.modules.upsampling
""".split()


def module_of(lib, name):
    """A module, or the class Tensor; None where the library has no such module."""
    if name == "Tensor":
        return lib.Tensor
    try:
        return importlib.import_module(lib.__name__ + ("" if name == "torch" else "." + name))
    except ModuleNotFoundError:
        return None


@functools.cache
def opened():
    """The modules that are there once those are imported: what other tests have opened must not count."""
    names = [f"torch.{name}" for name in MODULES if name not in ("torch", "Tensor")]
    program = f"import sys, torch, {', '.join(names)}; print(*(n for n in sys.modules if n[:6] == 'torch.'))"
    return set(python("-c", program).stdout.split())


def is_torchs(value):
    """Whether a value was made by PyTorch, and not imported by it from elsewhere."""
    with warnings.catch_warnings():  # a deprecated value says so whatever is asked of it
        warnings.simplefilter("ignore")
        if isinstance(value, types.ModuleType):
            return value.__name__ in opened()
        home = getattr(value, "__module__", None)
    return home is None or home.startswith("torch")


def public(module):
    """The names PyTorch offers in a module: those it says it does; where it says nothing, all that are its own."""
    if isinstance(module, type):
        return {name for name in dir(module) if not name.startswith("_")}
    said = set(getattr(module, "__all__", ()))
    if said and module is not torch:  # not all that is documented is in `torch.__all__`
        return said
    return said | {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and is_torchs(value) and name not in ("torch", "TYPE_CHECKING")
    }


def absent(name):
    """The public names of a module that vistorch has not."""
    theirs, ours = module_of(torch, name), module_of(L, name)
    return {one for one in public(theirs) if ours is None or not hasattr(ours, one)}


def listed(module):
    """The patterns that stand for names of a module."""
    return [
        pattern for modules, _, names in MISSING if module in modules.split() for pattern in names.split()
    ]


def matches(names, pattern):
    return {name for name in names if fnmatch.fnmatchcase(name, pattern)}


@pytest.mark.parametrize("module", MODULES)
def test_no_name_is_missing(module):
    unlisted = absent(module)
    for pattern in listed(module):
        unlisted -= matches(unlisted, pattern)
    assert not sorted(unlisted)


@pytest.mark.parametrize("module", MODULES)
def test_no_line_is_stale(module):
    gone = absent(module)
    here = public(module_of(torch, module)) - gone
    stale = [pattern for pattern in listed(module) if not matches(gone, pattern) or matches(here, pattern)]
    assert not stale


def test_every_line_has_a_module_and_a_reason():
    for modules, reason, names in MISSING:
        assert set(modules.split()) <= set(MODULES) and names.split(), modules
        assert len(reason.split()) > 1, names


def test_the_walk_sees_names():
    assert {"add", "nn", "float32", "pca_lowrank"} <= public(torch)
    assert {"Linear", "modules"} <= public(torch.nn) and "warnings" not in public(torch.nn.functional)
    assert absent("nn.functional") != public(torch.nn.functional)
