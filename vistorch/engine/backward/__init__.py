"""The backward pass, and what it computes at each node."""
