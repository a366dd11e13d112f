"""The random generators."""
