"""The view of a kata: the broken cell, the place, what was reached; and the table of all twelve.

Invariant: the page sends what was typed and clicked; the kernel judges it.
"""
