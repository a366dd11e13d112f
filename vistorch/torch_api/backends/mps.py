"""Apple's GPUs: not used here."""


def is_available() -> bool:
    """False.

    Example:
        >>> import vistorch
        >>> vistorch.backends.mps.is_available()
        False
    """
    return False


def is_built() -> bool:
    """False.

    Example:
        >>> import vistorch
        >>> vistorch.backends.mps.is_built()
        False
    """
    return False


def is_macos13_or_newer(minor: int = 0) -> bool:
    """False.

    Example:
        >>> import vistorch
        >>> vistorch.backends.mps.is_macos13_or_newer()
        False
    """
    return False


is_macos_or_newer = is_macos13_or_newer
