"""Images resized, sampled along a grid, and shuffled between channels and pixels."""

__all__: list[str] = []
