"""The commands that show no view: one file each, found by the folder.

Invariant: a file here has `COMMANDS`, the rows of what it brings; nothing else needs to name it.
"""
