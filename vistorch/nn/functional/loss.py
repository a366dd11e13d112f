"""One number that says how wrong a prediction is."""

__all__: list[str] = []
