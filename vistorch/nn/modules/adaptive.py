"""The softmax of very many classes, by clusters."""

__all__: list[str] = []
