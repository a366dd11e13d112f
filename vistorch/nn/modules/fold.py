"""Sliding windows taken out and put back."""

__all__: list[str] = []
