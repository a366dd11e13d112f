"""Draws whose gradient with respect to the parameters is known: gamma and Dirichlet numbers; and binomial counts."""

from . import draws, slopes
