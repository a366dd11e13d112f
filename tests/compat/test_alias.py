"""`import torch` gives vistorch: the very same modules, and everything back as it was afterwards."""

import textwrap

import pytest

from tests.compat.run import python

BEFORE = "from vistorch.compat import alias_torch, is_aliased, unalias_torch\n"


def run(program, **options):
    done = python("-c", textwrap.dedent(program), **options)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_modules_are_the_same_objects():
    out = run(
        BEFORE
        + """
with alias_torch():
    import torch, torch.nn as nn, torch.nn.functional as F, torch.utils.data, torch.optim, torchvision
    import torch.multiprocessing as mp, torch.nn.modules.conv
    import torch.backends.cudnn as cudnn
    from torch.autograd import Variable
    from torch.nn.modules.utils import _pair
    import sys, inspect, pickle, typing, vistorch, vistorch.vision
    assert torch is vistorch and nn is vistorch.nn and F is vistorch.nn.functional
    assert sys.modules["torch.nn.modules.conv"] is sys.modules["vistorch.nn.modules.conv"]
    assert torchvision is vistorch.vision and mp is vistorch.multiprocessing
    assert nn.__spec__.name == "vistorch.nn" and nn.__loader__ is nn.__spec__.loader
    assert torch.backends.cudnn is cudnn and _pair(2) == (2, 2)
    model = nn.Linear(2, 2)
    assert type(pickle.loads(pickle.dumps(model))) is vistorch.nn.Linear
    assert inspect.getmodule(nn.Linear) is vistorch.nn.modules.linear
    def f(x: "torch.Tensor") -> "nn.Module": ...
    assert typing.get_type_hints(f) == {"x": vistorch.Tensor, "return": vistorch.nn.Module}
    print(type(torch.ones(1)), is_aliased())
print(is_aliased(), [name for name in sys.modules if name.split(".")[0] in ("torch", "torchvision")])
"""
    )
    assert out == ["<class", "'torch.Tensor'>", "True", "False", "[]"]


def test_a_module_that_vistorch_has_not():
    out = run(
        BEFORE
        + """
import importlib.util
alias_torch()
for name in ("torch.wobble", "torch.nn.wobble.wobble", "torch._wobble", "torchvision.wobble"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        print(str(error).replace(" ", "_"), error.name)
    assert importlib.util.find_spec("torch.wobble") is None
import torch
try:
    from torch import wobble
except ImportError as error:
    print(type(error).__name__)
assert importlib.util.find_spec("torch.nn").name == "vistorch.nn"
"""
    )
    assert out == [
        "vistorch_has_no_torch.wobble",
        "torch.wobble",
        "vistorch_has_no_torch.nn.wobble",
        "torch.nn.wobble",
        "vistorch_has_no_torch._wobble",
        "torch._wobble",
        "vistorch_has_no_torchvision.wobble",
        "torchvision.wobble",
        "ImportError",
    ]


def test_the_real_torch_is_not_pushed_aside_unasked():
    out = run(
        """
        import torch, torch.nn
        from vistorch.compat import alias_torch, is_aliased, unalias_torch
        try:
            alias_torch()
        except RuntimeError as error:
            assert "already imported" in str(error), error
        print(is_aliased())
        real, nn = torch, torch.nn
        alias_torch(force=True)
        import torch
        print(torch.__spec__.name, torch is real)
        alias_torch()  # again: nothing changes
        unalias_torch()
        import torch
        import torch.nn
        print(torch is real, torch.nn is nn, torch.ones(2).sum().item())
        unalias_torch()
        """
    )
    assert out == ["False", "vistorch", "False", "True", "True", "2.0"]


def test_without_the_real_torch(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        textwrap.dedent(
            """
            import sys
            class Hidden:
                def find_spec(self, name, path=None, target=None):
                    if name.split(".")[0] == "torch":
                        raise ModuleNotFoundError("No module named 'torch'", name="torch")
            sys.meta_path.insert(0, Hidden())
            """
        )
    )
    from tests.compat.run import ROOT

    out = run(
        BEFORE
        + """
with alias_torch():
    import torch
    print(torch.__spec__.name)
try:
    import torch.nn
except ModuleNotFoundError as error:
    print("none")
""",
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}"},
    )
    assert out == ["vistorch", "none"]


def test_the_inner_of_two_regions_ends_nothing():
    out = run(
        BEFORE
        + """
import os
before = os.environ.get("PYTHONPATH")
with alias_torch():
    with alias_torch():
        pass
    print(is_aliased())
print(is_aliased(), os.environ.get("PYTHONPATH") == before)
"""
    )
    assert out == ["True", "False", "True"]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_children_of_an_aliased_process(tmp_path, method):
    (tmp_path / "work.py").write_text("import torch\n\ndef name(_):\n    return torch.__spec__.name\n")
    (tmp_path / "main.py").write_text(
        "from vistorch.compat import alias_torch\n"
        "if __name__ == '__main__':\n"
        "    alias_torch()\n"
        "    import multiprocessing, work\n"
        f"    with multiprocessing.get_context({method!r}).Pool(1) as pool:\n"
        "        print(pool.map(work.name, [0]))\n"
    )
    done = python("main.py", cwd=tmp_path)
    assert done.stdout == "['vistorch']\n", done.stderr


def test_async_gets_a_sentence_in_what_is_imported_later(tmp_path):
    (tmp_path / "old.py").write_text("x.cuda(async=True)\n")
    for more, seen in (("", True), ("unalias_torch()\n", False)):
        done = python("-c", BEFORE + "alias_torch()\n" + more + "import old", cwd=tmp_path)
        assert done.returncode == 1 and "SyntaxError" in done.stderr
        assert ("write `non_blocking=` in its place." in done.stderr) is seen
