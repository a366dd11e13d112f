"""The processor."""


def get_cpu_capability() -> str:
    """Give "DEFAULT": which instructions are used is numpy's affair (`numpy.show_config()`).

    Example:
        >>> import vistorch
        >>> vistorch.backends.cpu.get_cpu_capability()
        'DEFAULT'
    """
    return "DEFAULT"
