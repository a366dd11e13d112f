"""The networks' own source, run once more with torch in vistorch's place.

Invariant: `counterpart().resnet18` and `vistorch.vision.models.resnet18` come from the same lines.
"""

import importlib.abc
import importlib.util
import re
import sys
from pathlib import Path

import vistorch.vision

NAME = "vision_on_torch"
HERE = Path(vistorch.vision.__file__).parent


class OnTorch(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the package and its files under another name."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != NAME:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=self.path(name).is_dir())

    def path(self, name):
        return HERE.joinpath(*name.split(".")[1:])

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        file = self.path(module.__name__)
        source = (file / "__init__.py" if file.is_dir() else file.with_suffix(".py")).read_text()
        source = re.sub(r"^from \.\.\. import", "from torch import", source, flags=re.M)
        source = source.replace("from ...nn.modules.tuples", "from torch.nn.modules.utils")
        source = re.sub(r"^from \.\.\.(nn|utils)\b", r"from torch.\1", source, flags=re.M)
        source = re.sub(r"^import vistorch$", "import torch as vistorch", source, flags=re.M)
        assert "from ..." not in source
        exec(compile(source, f"{file} on torch", "exec"), vars(module))


def counterpart():
    """The models of vistorch, made of torch."""
    if NAME not in sys.modules:
        sys.meta_path.insert(0, OnTorch())
    return importlib.import_module(f"{NAME}.models")
