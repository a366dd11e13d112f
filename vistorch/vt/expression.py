"""An expression typed after a magic: evaluated in the user's namespace, its failures said in one line.

Invariant: nothing is put into the user's namespace by reading from it.
"""

from __future__ import annotations

import builtins
from typing import Any

from ..widgets._frame.user_error import Refusal, first_line, one_line, perhaps

WHAT_THERE_IS = "type `%vt vars` to see what there is"


def evaluate(text: str, namespace: dict[str, Any], cure: str = WHAT_THERE_IS) -> Any:
    """Return the value of an expression.

    Args:
        text: the expression as it was typed.
        namespace: the names it may use.
        cure: what to do about a name that is not there and is near to none; NAME in it stands for that name.

    Raises:
        Refusal: one line with the exception's type and sentence, and names near an unknown one.
    """
    try:
        code = compile(text.strip(), "<%vt>", "eval")
    except (SyntaxError, ValueError) as error:
        why = error.msg if isinstance(error, SyntaxError) else error
        raise Refusal(f"SyntaxError: {why} in `{one_line(text, 60)}`: type one Python expression") from None
    scope = {"__builtins__": builtins, **namespace}  # a copy: `eval` and `:=` would write into it
    try:
        return eval(code, scope)
    except Exception as error:
        refusal = Refusal(first_line(error) + _near(error, scope, cure))
    raise refusal  # outside of `except`: the shell keeps the last error, which must not keep the user's variables


def _near(error: Exception, scope: dict[str, Any], cure: str) -> str:
    """Return the names near one that was not found, as the end of the sentence."""
    missing = getattr(error, "name", None)
    if isinstance(error, NameError) and missing:
        return perhaps(missing, [*scope, *dir(builtins)]) or f": {cure.replace('NAME', missing)}"
    if isinstance(error, AttributeError) and missing and error.obj is not None:
        return perhaps(missing, dir(error.obj))
    return ""
