"""The table of operations: one row per op, one family per file."""
