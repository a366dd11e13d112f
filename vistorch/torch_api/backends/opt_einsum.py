"""The order of einsum's products: settable, without effect."""

enabled = True
strategy: str | None = "auto"


def is_available() -> bool:
    """False: `einsum` goes from left to right."""
    return False


def get_opt_einsum() -> None:
    """None: the package is not used."""
