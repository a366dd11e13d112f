"""The page of the notebook's commands, made from the table that `%vt`, its help and its completion are made of.

Each command that shows something has a session in `SESSIONS`: it is run when the site is built, and what it shows
stands below it in both themes. A session for a command that is not there yet waits for it.
Invariant: a command needs no session to be on the page, and a session that fails fails the build.
"""

from __future__ import annotations

import argparse
import importlib
import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

NET = """\
import vistorch
from vistorch import nn, vt

vistorch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4), nn.Tanh())
x = vistorch.randn(5, 6)
"""

# Python that is run, and the expression whose display is shown; what a reader types is the command's first example.
SESSIONS: dict[str, tuple[str, str]] = {
    "show": (NET, 'vt.show(net[0].weight, name="net[0].weight")'),
    "vars": (NET, "vt.vars()"),
    "graph": (NET + "loss = net(x).pow(2).mean()\n", "vt.graph(loss)"),
    "step": (NET + "loss = net(x).pow(2).mean()\n", "vt.step(loss)"),
    "trace": (
        "import vistorch\nfrom vistorch import vt\n\np = vistorch.tensor([0.5, 0.0, 0.2], requires_grad=True)\n"
        "with vt.trace() as found:\n    vistorch.where(p > 0, p * p.log(), 0.0).sum().backward()\n",
        "found",
    ),
    "watch": (
        NET + "labels = vistorch.tensor([0, 1, 2, 3, 0])\n"
        "optimizer = vistorch.optim.Adam(net.parameters(), lr=0.05)\n"
        "with vt.watch(net) as run:\n    for _ in range(60):\n        optimizer.zero_grad()\n"
        "        nn.functional.cross_entropy(net(x), labels).backward()\n        optimizer.step()\n",
        "run",
    ),
    "flow": (NET + "net(x).pow(2).mean().backward()\n", "vt.flow(net)"),
    "compare": (
        NET + 'with vt.record("before") as before:\n    net(x).pow(2).mean().backward()\n'
        "with vistorch.no_grad():\n    net[2].weight[0, 0] += 1\n"
        'with vt.record("after") as after:\n    net(x).pow(2).mean().backward()\n',
        "vt.compare(before, after)",
    ),
    "memory": (NET + "loss = net(x).pow(2).mean()\n", "vt.memory(loss)"),
    "device": ("from vistorch import vt\n", "vt.device()"),
}


def page(folder: Path) -> str:
    """Return the page, its pictures written beside it.

    Args:
        folder: where the page will be.
    """
    vt = importlib.import_module("vistorch.vt")
    head = (
        "# The commands of the notebook\n\n"
        "After `%load_ext vistorch`, `%vt` lists them, `%vt show?` helps with one, the tab key completes. Each is a "
        "function too: what `%vt show x --size 300` shows, `vt.show(x, size=300)` returns "
        "([reference](reference/vt.md)).\n\n"
        "In the notebook these views answer: the pictures below are what is left of them where no script runs."
    )
    rows = ["| command | what it does |", "| :-- | :-- |"]
    rows += [
        f"| [`{one.typed}`](#command-{one.name}) | {_cell(one.summary)} |" for one in vt.COMMANDS.values()
    ]
    parts = [head, "\n".join(rows)]
    parts += [_command(one, folder) for one in vt.COMMANDS.values()]
    return "\n\n".join(parts) + "\n"


def _command(one: Any, folder: Path) -> str:
    """Return one command: its sentence, its examples, its options, what it shows."""
    sign = one.typed.partition("vt")[0]
    parts = [f"(command-{one.name})=\n## {one.typed}", f"{one.summary}."]
    parts.append(
        "\n".join(["| for example | |", "| :-- | :-- |"] + [_example(sign, *pair) for pair in one.examples])
    )
    actions = [*one.parser.positions, *one.parser.options.values()]
    if actions:
        rows = ["| what is typed | what it is |", "| :-- | :-- |"]
        rows += [f"| `{_usage(action)}` | {_cell(action.help or '')} |" for action in actions]
        parts.append("\n".join(rows))
    if one.name in SESSIONS:
        parts.append(_shown(one.name, folder))
    return "\n\n".join(parts)


def _example(sign: str, line: str, says: str) -> str:
    """Return a row with a line that can be typed."""
    return f"| `{_cell(f'{sign}vt {line}')}` | {_cell(says)} |"


def _usage(action: argparse.Action) -> str:
    """Return how an argument is typed, for a cell of a table."""
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    word = action.option_strings[0] if action.option_strings else ""
    # a bar would end the cell
    return " ".join(filter(None, [word, "" if action.nargs == 0 else str(value)])).replace("|", "\\|")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _run(code: str, expression: str, name: str) -> tuple[Any, str]:
    """Run a session; return what is shown, and what was printed on the way."""
    from vistorch.widgets._frame.display import Display

    names: dict[str, Any] = {"__name__": "__main__"}
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()):
        exec(compile(code, f"<the session of {name}>", "exec"), names)
        shown = eval(expression, names)
        shown = getattr(shown, "display", shown)
        if callable(getattr(shown, "record", None)):  # a run that was watched
            shown = Display(shown.record(), name)
    return shown, out.getvalue()


def _shown(name: str, folder: Path) -> str:
    """Run a session; return its code and what it shows."""
    code, expression = SESSIONS[name]
    display, said = _run(code, expression, name)
    parts = [f"As a function:\n\n```python\n{code}{expression}\n```"]
    if not hasattr(display, "picture"):
        return "\n\n".join([*parts, f"```text\n{said}{display}\n```"])
    folder.joinpath("pictures").mkdir(parents=True, exist_ok=True)
    for theme in ("light", "dark"):
        mime, data = display.picture(theme)
        path = folder / "pictures" / f"command-{name}-{theme}.{'png' if mime == 'image/png' else 'svg'}"
        path.write_bytes(data)
        parts.append(
            f"```{{image}} pictures/{path.name}\n:alt: what %vt {name} shows\n:class: vt-picture only-{theme}\n```"
        )
    return "\n\n".join(parts)
