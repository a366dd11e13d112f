"""Worker processes of a loader: their start, the memory they share with the main process, and their end.

Invariant: what a worker does wrong, its death included, is an exception in the main process and never a wait.
"""
