"""What is no tensor is refused as PyTorch refuses it: by a TypeError that names the argument."""

import types

import pytest

import vistorch
from vistorch.engine.core import registry

STRANGE = (1, {}, "a", None, [])
# written in Python in PyTorch, where such a thing is an AttributeError too
PYTHON = {"pca_lowrank", "svd_lowrank"}
KEPT = {"seed", "from_file"} | PYTHON
FUNCTIONS = [
    n for n in registry.FUNCTIONS if n[0] != "_" and not n.startswith("set_") and hasattr(vistorch, n)
]


@pytest.mark.filterwarnings("ignore")
def test_functions_and_methods() -> None:
    wrong = []
    calls = [
        (getattr(vistorch, n), n, a) for n in FUNCTIONS if n not in KEPT for a in ((s,) for s in STRANGE)
    ]
    calls += [
        (getattr(vistorch, n), n, (vistorch.ones(2), s)) for n in FUNCTIONS if n not in KEPT for s in STRANGE
    ]
    for n in dir(vistorch.Tensor):
        method = getattr(vistorch.Tensor, n)
        if n[0] != "_" and isinstance(method, types.FunctionType):
            calls += [(method, n, (vistorch.ones(2), s)) for s in STRANGE]
    for function, name, args in calls:
        try:
            function(*args)
        except AttributeError as error:
            if "has no attribute" in str(error):
                wrong.append((name, args, str(error)))
        except Exception:
            pass
    assert len(calls) > 1000 and not wrong


def test_a_number_is_no_name_of_a_file() -> None:
    """It would be taken for a descriptor, and closed."""
    with pytest.raises(TypeError, match="must be str, not int"):
        vistorch.from_file(1, size=1)
    with pytest.raises(TypeError, match="must be str, not int"):
        vistorch.UntypedStorage.from_file(1, nbytes=1)
