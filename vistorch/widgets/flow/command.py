"""`%vt flow`: how large the gradient of each parameter was in the last backward pass."""

from __future__ import annotations

from typing import Any

from ...debug.watch import flow as flow_of
from .._frame.command import EXPRESSION, Asked, Command, Parser
from .._frame.user_error import Refusal, first_line


def flow(model: Any, *, title: str = "", name: str | None = None) -> Any:
    """Show the gradient flow of the last backward pass: how large each parameter's gradient is, on one scale.

    Args:
        model: a module whose parameters have gradients.
        title: what it is called in its head.
        name: what `vt.export` finds it by.

    Returns:
        A display: the last value of a cell shows itself, `print` shows its text.

    Example:
        >>> import vistorch
        >>> from vistorch import vt
        >>> _ = vistorch.manual_seed(0)
        >>> net = vistorch.nn.Linear(2, 1, bias=False)
        >>> net(vistorch.tensor([[3.0, 4.0]])).sum().backward()
        >>> print(vt.flow(net))
        Gradient flow of Linear
        parameter  shape  norm  max  zeros  grad/weight
        weight     1 × 2     5    4    0 %        13.18
    """
    from .._frame.display import Display

    try:
        record = flow_of(model, title)
    except TypeError:
        what = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise Refusal(f"flow takes a module, not {what}: type %vt flow model") from None
    except (RuntimeError, ValueError) as error:
        if "uninitialized" in str(error):
            raise Refusal("a parameter has no shape yet: the first forward gives it one") from None
        raise Refusal(first_line(error)) from None
    if not record.rows:
        raise Refusal(f"{type(model).__name__} has no parameters: there is no gradient to show")
    return Display(record, name or "flow")


def _arguments(parser: Parser) -> None:
    parser.takes("model", "a module after a backward pass", kind=EXPRESSION, metavar="MODEL")
    parser.takes("--title", "what it is called in its head", metavar="TEXT", default="")
    parser.takes("--name", "what it is exported by; the expression if not given", metavar="NAME")


def _prepare(options: dict[str, Any], asked: Asked) -> dict[str, Any]:
    return {**options, "name": options["name"] or asked.texts["model"]}


COMMANDS = (
    Command(
        name="flow",
        summary="Gradient flow of the last backward pass",
        function=flow,
        arguments=_arguments,
        prepare=_prepare,
        examples=(
            ("flow model", "the gradient of each parameter, on one scale"),
            ("flow model.layer2 --title layer2", "of a part"),
        ),
        about="the gradient of every layer on one scale",
        rank=80,
    ),
)
