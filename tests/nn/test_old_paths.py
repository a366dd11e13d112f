"""Pickles of earlier versions name files that have since been joined: they load, and are saved under today's path."""

import pickle

import pytest

import vistorch.nn
from vistorch._lazy import FORMER
from vistorch.nn import modules

HERE = "nn.modules."
MOVED = {a.removeprefix(HERE): b.removeprefix(HERE) for a, b in FORMER.items() if a.startswith(HERE)}

# A class of each file that is gone, and where it was.
CLASSES = {
    "calls": ["BoundHook"],
    "conv_base": ["_ConvNd"],
    "conv_lazy": ["LazyConv1d", "LazyConvTranspose3d"],
    "conv_transpose": ["ConvTranspose1d", "ConvTranspose3d"],
    "everywhere": ["_Kind"],
    "loss_base": ["_Loss", "_WeightedLoss"],
    "loss_margins": ["MultiMarginLoss"],
    "loss_values": ["HuberLoss", "MSELoss"],
    "padding_own": ["CircularPad1d", "ReplicationPad3d"],
    "parameters": ["ParameterDict", "ParameterList"],
    "pooling_max": ["MaxPool1d", "MaxUnpool3d"],
    "pooling_means": ["AvgPool1d", "LPPool3d"],
    "smooth": ["GELU", "Tanh"],
    "soft": ["Softmax", "Softmax2d"],
    "state": ["_IncompatibleKeys"],
    "straight": ["Hardtanh", "ReLU6"],
}


def test_every_joined_file_has_a_class_here():
    assert sorted(CLASSES) == sorted(MOVED)


@pytest.mark.parametrize(("old", "name"), [(old, name) for old, names in CLASSES.items() for name in names])
def test_class_is_found_where_it_was(old, name):
    found = pickle.loads(f"cvistorch.nn.modules.{old}\n{name}\n.".encode())
    assert found is getattr(modules.__dict__[MOVED[old]], name)
    assert found.__module__ == f"vistorch.nn.modules.{MOVED[old]}"


# What `pickle.dumps(vistorch.nn.MaxPool1d(2), protocol=0)` gave, shortened to what a module must have.
OLD_MODULE = """\
ccopy_reg
_reconstructor
(cvistorch.nn.modules.pooling_max
MaxPool1d
c__builtin__
object
NtR(dVtraining
I01
sV_parameters
(dsV_buffers
(dsV_modules
(dsVkernel_size
I2
sVstride
I2
sVpadding
I0
sVdilation
I1
sVreturn_indices
I00
sVceil_mode
I00
sb."""


def test_old_module_runs_and_is_saved_under_its_new_path():
    pool = pickle.loads(OLD_MODULE.encode())
    assert pool(vistorch.tensor([[1.0, 3.0, 2.0, 0.0]])).tolist() == [[3.0, 2.0]]
    assert b"vistorch.nn.modules.pooling\n" in pickle.dumps(pool, protocol=0)


@pytest.mark.parametrize("name", ["orthogonal_", "sparse_", "trunc_normal_"])
def test_function_is_found_where_it_was(name):
    assert pickle.loads(f"cvistorch.nn.fills\n{name}\n.".encode()) is getattr(vistorch.nn.init, name)
