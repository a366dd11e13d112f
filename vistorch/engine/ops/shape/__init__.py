"""Views, joining, splitting and the copies that change a shape."""

from . import join, reshape, rows, split, strided, views
