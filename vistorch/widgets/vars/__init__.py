"""The view of the notebook's variables: one row for each tensor, module and array.

Invariant: a row names a variable; its value is asked for when the row is opened.
"""
