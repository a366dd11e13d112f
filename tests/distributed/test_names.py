"""PyTorch's public names of `distributed` are here, or are refused in one sentence where they are used."""

import importlib

import pytest
import torch.distributed

import vistorch.distributed as dist

CLASSES = ("DebugLevel", "FileStore", "GradBucket", "HashStore", "Logger", "Reducer", "TCPStore")
PUBLIC = sorted({*torch.distributed.distributed_c10d.__all__, *CLASSES})
REFUSED = ("BackendConfig", "Logger", "ProcessGroupGloo", "Reducer")
OPTIONS = [name for name in PUBLIC if name.endswith("Options") or name in REFUSED]
MODULES = {
    "distributed_c10d": (),
    "algorithms.join": (),
    "algorithms.ddp_comm_hooks.default_hooks": (),
    "algorithms.ddp_comm_hooks.powerSGD_hook": (),
    "constants": (),
    "device_mesh": (),
    "tensor.parallel": ("PrepareModuleInputOutput",),
}


@pytest.mark.parametrize("name", PUBLIC)
def test_each_name_is_there(name):
    ours = importlib.import_module("vistorch.distributed.distributed_c10d")
    if name not in ("GroupName", "get_backend_config"):  # which PyTorch has in the older home alone
        assert hasattr(dist, name)
    if name in torch.distributed.distributed_c10d.__all__:
        assert getattr(ours, name) is getattr(dist, name, getattr(ours, name))


@pytest.mark.parametrize("module", MODULES)
def test_each_name_of_the_modules_below(module):
    theirs = importlib.import_module(f"torch.distributed.{module}")
    ours = importlib.import_module(f"vistorch.distributed.{module}")
    names = getattr(theirs, "__all__", None) or [n for n in vars(theirs) if n.startswith("default_")]
    assert [name for name in names if not hasattr(ours, name)] == list(MODULES[module])


@pytest.mark.parametrize("name", OPTIONS)
def test_arguments_of_the_backend_in_c_are_refused_in_a_sentence(name):
    with pytest.raises(
        NotImplementedError, match=f"^{name} is an argument of PyTorch's own process groups: "
    ):
        getattr(dist, name)()


def test_modules_below_are_attributes():
    assert dist.distributed_c10d._get_default_group.__name__ == "default"
    assert dist.algorithms.__name__ == "vistorch.distributed.algorithms"
    with pytest.raises(AttributeError, match="has no attribute 'nope'"):
        _ = dist.nope
    with pytest.raises(AttributeError, match="has no attribute 'nope'"):
        _ = dist.distributed_c10d.nope
