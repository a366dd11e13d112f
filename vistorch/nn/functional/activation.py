"""What a unit does with its sum: relu and its kin, softmax, gates."""

__all__: list[str] = []
