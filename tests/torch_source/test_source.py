"""Which source a thing has, when the package is loaded, and what is said where it cannot look."""

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest
import torch

import vistorch
from vistorch.debug import source as sources
from vistorch.debug.source import FEATURES, Unsupported, is_torch, named, own, source_of
from vistorch.torch_source import real


def python(code):
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importing_vistorch_and_its_commands_loads_neither_torch_nor_the_package():
    code = (
        "import sys, vistorch; from vistorch import vt; x = vistorch.ones(2, 2, requires_grad=True)\n"
        "vt.show(x); vt.graph((x * 2).sum()); vt.step((x * 2).sum()); vt.vars(namespace={'x': x})\n"
        "print(*[name for name in sys.modules if name.partition('.')[0] == 'torch' or 'torch_source' in name])"
    )
    assert python(code) == []


def test_the_package_is_loaded_by_the_first_thing_of_torch_and_not_by_torch_itself():
    code = (
        "import sys, torch, vistorch; from vistorch import vt\n"
        "y = vistorch.ones(2, requires_grad=True).sum(); vt.graph(y)\n"
        "print('vistorch.torch_source' in sys.modules)\n"
        "vt.graph(torch.ones(2, requires_grad=True).sum())\n"
        "print('vistorch.torch_source' in sys.modules)"
    )
    assert python(code) == ["False", "True"]


class Wrapped(torch.Tensor):
    """A subclass of a user's."""


def kinds():
    """Things, and the source each has."""
    x, y = torch.ones(2, requires_grad=True), vistorch.ones(2, requires_grad=True)
    return [
        (x, "torch"),
        (x.detach().as_subclass(Wrapped), "torch"),
        (torch.nn.Parameter(x.detach()), "torch"),
        (torch.nn.Linear(2, 2), "torch"),
        (torch.optim.SGD([x], lr=0.1), "torch"),
        ((x * 2).grad_fn, "torch"),
        ((x * 2).grad_fn.next_functions[0][0], "torch"),
        ([1, x], "torch"),
        (y, "vistorch"),
        (vistorch.nn.Linear(2, 2), "vistorch"),
        ((y * 2).grad_fn, "vistorch"),
        ([y, x], "vistorch"),
        (torch, None),
        (torch.Tensor, None),
        (np.ones(2), None),
        (None, None),
        ([], None),
    ]


def test_a_thing_is_known_by_what_it_is():
    for thing, name in kinds():
        found = source_of(thing)
        assert (found and found.name) == name, type(thing)


def test_a_class_that_was_asked_about_is_not_kept():
    kind = type("Mine", (torch.nn.Module,), {})
    assert source_of(kind()).name == "torch"
    gone = weakref.ref(kind)
    del kind
    gc.collect()
    assert gone() is None


def test_both_sources_satisfy_the_protocol():
    wanted = [name for name in vars(sources.Source) if not name.startswith("_")]
    assert len(wanted) > 12
    for source in (own(), named("torch")):
        for name in (*wanted, *sources.Source.__annotations__):
            assert hasattr(source, name), (source.name, name)
        for name in [name for name in vars(sources.Nodes) if not name.startswith("_")]:
            assert hasattr(source.nodes, name), (source.name, name)
    assert {name for row in FEATURES.values() for name in row} == set(sources.PACKAGES)


def test_the_table_says_what_is_refused():
    torch_source = named("torch")
    for feature, names in FEATURES.items():
        assert sources.has(torch_source, feature) == ("torch" in names)
        assert "\n" not in sources.lacking(torch_source, feature)
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(vistorch.vt.Refusal, match="constants is not there for PyTorch"):
        vistorch.vt.graph(x.sum(), constants=True)


@pytest.mark.parametrize("version", [(2, 8), (2, 16), (3, 0), (1, 13)])
def test_another_version_is_answered_with_a_sentence_and_its_values_are_shown(version, monkeypatch):
    monkeypatch.setattr(real, "VERSION", version)
    x = torch.ones(2, requires_grad=True)
    for command in (vistorch.vt.graph, vistorch.vt.step):
        with pytest.raises(vistorch.vt.Refusal, match=r"PyTorch 2\.9 to 2\.15, and this is") as refused:
            command(x.sum())
        assert "\n" not in str(refused.value)
    assert vistorch.vt.show(x).record.items[0].shape == (2,)


def test_under_the_alias_a_thing_of_torch_is_refused_with_what_to_type():
    x = torch.ones(2, requires_grad=True)
    loss = x.sum()
    with vistorch.compat.alias_torch(force=True):
        import torch as aliased

        assert aliased is vistorch
        assert source_of(aliased.ones(2)).name == "vistorch"
        assert source_of(x).name == "torch"
        with pytest.raises(vistorch.vt.Refusal, match="%vt torch off"):
            vistorch.vt.graph(loss)
    assert vistorch.vt.graph(loss).record.ops == 1


def test_the_version_says_whose_it_is():
    version = vistorch.torch_version
    assert version.of_pytorch() == torch.__version__ and version.__version__ == vistorch.__version__
    with vistorch.compat.alias_torch(force=True):
        from torch.torch_version import TorchVersion, __version__

        assert TorchVersion is version.TorchVersion and __version__ == vistorch.__version__
        assert version.of_pytorch() is None
    assert python(
        "from vistorch import torch_version as v; import sys; print(v.of_pytorch(), 'torch' in sys.modules)"
    ) == ["None", "False"]


TEXTS = [
    "2.13.0",
    "2.13",
    "2.6.0+cu124",
    "1.10.0a",
    "1.10.0a0+git12",
    "1.10.0",
    "2.0.0rc2",
    "2.0.0.dev20240101",
    "0.1.0.dev0",
]


@pytest.mark.parametrize("other", [*TEXTS, (2, 13), (1, 10, 0), "parrot"])
def test_versions_are_ordered_as_torch_orders_them(other):
    from torch.torch_version import TorchVersion

    for text in TEXTS:
        ours, theirs = vistorch.torch_version.TorchVersion(text), TorchVersion(text)
        for name in ("__lt__", "__le__", "__eq__", "__ge__", "__gt__"):
            assert getattr(ours, name)(other) == getattr(theirs, name)(other), (text, name, other)


def test_the_doctor_and_the_devices_say_whose_they_are(monkeypatch):
    assert "sources" in vt_text("doctor") and "of vistorch and of PyTorch 2." in vt_text("doctor")
    assert f"tensors of PyTorch {torch.__version__} have its own: cpu" in str(vistorch.vt.device())
    monkeypatch.setattr(real, "VERSION", (3, 0))
    assert "!!  sources" in vt_text("doctor")
    code = "from vistorch import vt; print(vt.doctor(), vt.device())"
    assert "PyTorch" not in " ".join(python(code)).replace("gives PyTorch", "").replace(
        "finds no PyTorch", ""
    )


def vt_text(command):
    return str(getattr(vistorch.vt, command)())


def test_tensors_of_both_libraries_have_no_graph_together():
    ours, theirs = vistorch.ones(2, requires_grad=True).sum(), torch.ones(2, requires_grad=True).sum()
    with pytest.raises(vistorch.vt.Refusal, match=r"of vistorch and PyTorch 2\.\d+"):
        vistorch.vt.graph([ours, theirs])


def test_nothing_of_torch_changes_until_a_command_asks():
    backward, modes = torch.autograd.backward, torch._C._len_torch_function_stack()
    hooks = len(torch.nn.modules.module._global_forward_hooks)
    assert torch.autograd.backward is backward and torch._C._len_torch_function_stack() == modes
    named("torch").listen()
    assert torch.autograd.backward is not backward
    named("torch").deafen()
    assert torch.autograd.backward is backward and torch._C._len_torch_function_stack() == modes
    assert len(torch.nn.modules.module._global_forward_hooks) == hooks


def test_without_torch_the_package_says_so_in_a_sentence(monkeypatch):
    assert issubclass(Unsupported, ValueError)
    code = (
        "from vistorch.debug.source import Unsupported, named\n"
        "try: named('torch')\n"
        "except Unsupported as why: print(why)"
    )
    assert " ".join(python(code)).startswith("PyTorch is not imported in this process")


def test_a_node_of_ones_own_function_belongs_to_the_library_that_made_it():
    for lib, name in ((vistorch, "vistorch"), (torch, "torch")):

        class Twice(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * 2

        y = Twice.apply(lib.ones(2, requires_grad=True))
        assert source_of(y.grad_fn).name == name
        assert is_torch(y.grad_fn) is (name == "torch")
