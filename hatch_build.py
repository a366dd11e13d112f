"""The steps of packaging that make the widgets' bundles, put the tutorials into the package, and its README in order.

`pip install` works where there is no node: then, and only if a bundle is missing or stale, the build asks pip for a
node of its own. A source distribution carries its bundles and needs none.
"""

import importlib.util
import re
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


def front_end():
    """Load js/front.py, which is a program and not part of the package."""
    path = Path(__file__).resolve().parent / "js" / "front.py"
    spec = importlib.util.spec_from_file_location("vistorch_front", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class FrontEnd(BuildHookInterface):
    """Bring the bundles up to date before a wheel, a source distribution or an editable install is made."""

    PLUGIN_NAME = "custom"

    def dependencies(self):
        """Ask for node only where it is needed and missing."""
        front = front_end()
        return [] if front.is_fresh() or front.system_node() else [front.NODE_WHEEL]

    def initialize(self, version, build_data):
        """Build what is stale; let a wheel carry the notebooks, which in a clone lie outside of the package."""
        front = front_end()
        if not front.is_fresh() and front.build():
            raise RuntimeError("The front end could not be built; the lines above say why.")
        if self.target_name == "wheel" and version != "editable":
            notebooks = Path(self.root, "notebooks")
            for path in sorted([*notebooks.glob("[0-9]*.ipynb"), *notebooks.glob("*/[0-9]*.md")]):
                place = path.relative_to(notebooks).as_posix()
                build_data["force_include"][str(path)] = f"vistorch/vt/cli/tutorials/notebooks/{place}"


def for_an_index(text):
    """Return README without what leads nowhere on the page of a package index: relative links and pictures.

    A link becomes its words and the file's name, which is in the source distribution.
    """
    text = re.sub(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n+", "", text, flags=re.M)

    def plain(found):
        says, target = found[1], found[2]
        return says if target in says else f"{says} (`{target}`)"

    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:|#|mailto:)([^)\s#]+)[^)]*\)", plain, text)


class Readme(MetadataHookInterface):
    """Give the metadata README's text."""

    PLUGIN_NAME = "custom"

    def update(self, metadata):
        """Fill in what pyproject.toml calls dynamic."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": for_an_index(text)}
