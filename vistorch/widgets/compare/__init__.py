"""The view of two recordings side by side, and the commands that make and compare them.

Invariant: what is compared was recorded before; nothing is computed again to be shown.
"""
