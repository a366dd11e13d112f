"""Files that are made from others and committed: the types of the pages, stubs, README's table, the list of rules.

    python -m docs.making.generated            write them
    python -m docs.making.generated --check    say which are not as they would be written

Invariant: each is a function of what is in the repository, and a test finds one that is stale.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from . import page_types, rules, type_stubs

ROOT = Path(__file__).parents[2]
BEGIN, END = "<!-- commands: made by `make generated` -->", "<!-- commands end -->"


def stub() -> str:
    """`vistorch-stubs/vt/__init__.pyi`: the functions of the commands, for editors and type checkers."""
    from vistorch import vt

    rows = [command.function for command in vt.COMMANDS.values() if command.function is not None]
    lines = [
        '"""Made from the table of commands by `make generated`; not written by hand."""',
        "",
        "from vistorch.vt.table import COMMANDS as COMMANDS",
        "from vistorch.widgets._frame.command import Asked as Asked",
        "from vistorch.widgets._frame.command import Command as Command",
        "from vistorch.widgets._frame.defaults import defaults as defaults",
        "from vistorch.widgets._frame.user_error import Refusal as Refusal",
    ]
    lines += [f"from {one.__module__} import {one.__name__} as {one.__name__}" for one in rows]
    return "\n".join([*lines[:2], *sorted(lines[2:], key=_by_module)]) + "\n"


def _by_module(line: str) -> tuple[str, str]:
    _, module, _, name, *_ = line.split()
    return module, name


def table_of_commands() -> str:
    """README's table: each command as its first example, and what one sees then."""
    from vistorch import vt

    rows = ["| type | and see |", "| :-- | :-- |"]
    for command in vt.COMMANDS.values():
        line = command.typed.partition("vt")[0] + "vt " + command.examples[0][0]
        about = command.about or command.summary[:1].lower() + command.summary[1:]
        rows.append(f"| `{line}` | {about.replace('|', chr(92) + '|')} |")
    return "\n".join(rows)


def readme() -> str:
    """README with its table anew."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"README.md has no table between `{BEGIN}` and `{END}`: put both lines back")
    return f"{before}{BEGIN}\n{table_of_commands()}\n{END}{after}"


def files() -> dict[Path, Callable[[], str]]:
    """Which files there are, and what makes the text of each."""
    return {
        type_stubs.FOLDER / "vt" / "__init__.pyi": stub,
        ROOT / "README.md": readme,
        rules.PAGE: rules.page,
        **page_types.files(),
        **type_stubs.files(),
    }


def stale() -> list[str]:
    """The files that are not as they would be written."""
    found = [
        path
        for path, make in files().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != make()
    ]
    return [path.relative_to(ROOT).as_posix() for path in [*found, *type_stubs.surplus()]]


def main(arguments: list[str]) -> int:
    """Write them, or with --check say which are stale."""
    found = stale()
    if "--check" in arguments:
        print(
            "\n".join(f"{name} is stale: run `make generated`" for name in found)
            or "all are as they should be"
        )
        return bool(found)
    for path, make in files().items():
        if path.relative_to(ROOT).as_posix() in found:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(make(), encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    for path in type_stubs.surplus():
        path.unlink()
        print(f"removed {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
