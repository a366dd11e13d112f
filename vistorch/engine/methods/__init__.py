"""What a tensor says of itself, and how it leaves the engine: sizes, numbers, copies, text."""
