"""PyTorch's own database of operators, each of its samples run on both libraries."""
