"""OpenMP: not used here."""


def is_available() -> bool:
    """False.

    Example:
        >>> import vistorch
        >>> vistorch.backends.openmp.is_available()
        False
    """
    return False
