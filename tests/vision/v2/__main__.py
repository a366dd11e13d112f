"""Run the cases beside the torchvision of a folder, and write its numbers: `python -m tests.vision.v2 DIR`."""

import argparse
import json
import warnings
from pathlib import Path

from tests.vision.models.measured import real

from .cases import CASES, digest

HEAD = '"""Numbers of torchvision 0.28, as `python -m tests.vision.v2` wrote them (`ruff format` after it)."""\n\n'


def main() -> None:
    """The command line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder")
    torch, _ = real(arguments.parse_args().folder)
    from torchvision import tv_tensors
    from torchvision.transforms import v2

    warnings.simplefilter("ignore")
    found = {name: digest(torch, call(torch, tv_tensors, v2)) for name, call in CASES.items()}
    lines = "".join(f"    {json.dumps(name)}: {values},\n" for name, values in found.items())
    Path(__file__).with_name("numbers.py").write_text(f"{HEAD}NUMBERS = {{\n{lines}}}\n")


if __name__ == "__main__":
    main()
