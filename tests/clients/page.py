"""The table of docs/libraries.md, which a run writes.

Invariant: what stands outside of the two marks is written by hand, and stays.
"""

from pathlib import Path

from .compare import Outcome
from .install import versions
from .records import Client

PAGE = Path(__file__).parents[2] / "docs" / "libraries.md"
BEGIN, END = "<!-- table: python -m tests.clients --write -->", "<!-- end of the table -->"
HEAD = "| library | what is run | results | numbers | largest difference | |\n| :-- | :-- | --: | --: | --: | :-- |"


def row(client: Client, found: Outcome) -> str:
    """One line of the table."""
    largest = "0" if found.largest == 0 else f"{found.largest:.0e}"
    state = "same" if not found.wrong else f"**{len(found.wrong)} differ**"
    name = f"{client.name} {versions()[client.name]}"
    return f"| {name} | {client.work} | {found.results:,} | {found.numbers:,} | {largest} | {state} |"


def written(text: str, rows: list[str]) -> str:
    """The page with another table."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{HEAD}\n" + "\n".join(rows) + f"\n\n{END}" + rest.split(END)[1]


def write(rows: list[str]) -> None:
    """Write the table into the page."""
    PAGE.write_text(written(PAGE.read_text("utf-8"), rows), "utf-8")
