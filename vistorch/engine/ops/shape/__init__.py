"""Views, joining, splitting and the copies that change a shape."""

from . import rows
