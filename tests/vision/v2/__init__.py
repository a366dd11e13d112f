"""The second generation of transforms."""
