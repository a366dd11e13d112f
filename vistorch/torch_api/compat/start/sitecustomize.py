"""Python runs this as it starts, in the programs of `vistorch run`: from here on, `import torch` gives vistorch.

Invariant: whatever happens here, the interpreter starts as it would have; the `sitecustomize` that would have been
run without us is run too.
"""

import importlib
import importlib.util
import os
import sys


def _load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # a file that is there has both
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _diagnose(said):
    """Look on, where the program was started to be diagnosed."""
    if said:
        script = importlib.import_module("vistorch.debug.diagnose.script")
        script.begin("no-try" not in said, real="torch" in said)


def _alias(here):
    # The variable names the interpreter: another one, with other packages, is left alone.
    if os.environ.get("VISTORCH_ALIAS") != sys.prefix:
        return
    # Under its own name, so that a later `import vistorch.compat` finds this very module.
    _load("vistorch.compat.import_torch", os.path.join(os.path.dirname(here), "import_torch.py")).begin()
    hook = _load("vistorch.compat.advice", os.path.join(os.path.dirname(here), "advice.py"))
    hook.begin()


def _next(here):
    """Run the sitecustomize that we stand before."""
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _here]
# Of this process alone, not of those that it starts.
_said = os.environ.pop("VISTORCH_DIAGNOSE", "").split()
_alias(_here)
_diagnose(_said)
_next(_here)
