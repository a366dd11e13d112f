"""Rows of a table, one by one or in bags."""

from . import bag, rows, table
