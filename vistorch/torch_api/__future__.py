"""PyTorch's switches for behaviour to come: remembered.

Invariant: a module converted by `to()` keeps its parameters, whatever is set.
"""

_set = {"overwrite": False, "swap": False}


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Remembered."""
    _set["overwrite"] = value


def get_overwrite_module_params_on_conversion() -> bool:
    """What was set."""
    return _set["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Remembered."""
    _set["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """What was set."""
    return _set["swap"]
