"""How parameters begin."""
