"""A tensor and how it came to be: its graph, the rows of ops, and what makes callables of rows."""
