"""A list of programs as tests: `good` ones return, `bad(kind)` ones raise, on both libraries alike."""

import pytest

from tests.autograd.both import both


class Programs:
    """Collects the programs of one test file."""

    def __init__(self):
        self.found = []

    def good(self, program):
        """A program that returns."""
        self.found.append((program, None))
        return program

    def bad(self, kind):
        """A program that raises this exception."""

        def enter(program):
            self.found.append((program, kind))
            return program

        return enter

    def test(self):
        """One test per program."""

        @pytest.mark.parametrize(("program", "kind"), self.found, ids=[p.__name__ for p, _ in self.found])
        def run(program, kind):
            both(program, raises=kind)

        return run


def leaf(lib, *values):
    """A vector that requires grad."""
    return lib.tensor(values, requires_grad=True)
