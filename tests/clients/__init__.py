"""Libraries written for PyTorch at their main work, under PyTorch and under vistorch, and what both say.

`python -m tests.clients` installs the libraries of `pinned.txt` into a folder of their own and runs each program of
`programs/` twice. Invariant: a program says nothing of vistorch: it is the same file in both runs.
"""
