"""Activations: relu and its kin, softmax, gates, dropout."""
