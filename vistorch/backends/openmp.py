"""OpenMP: not used here."""


def is_available() -> bool:
    """False."""
    return False
