"""What a primitive does with its result before it writes it: sums, products, a root, with numbers or arrays.

Invariant: the objects of the library that describe it live as long as a `with`; primitives copy them.
"""

from __future__ import annotations

import ctypes as C
from typing import Any

from .primitives import Refused, lib, plain

ADD, MUL, MAX, MIN, DIV, SUB = 0x1FFF0, 0x1FFF1, 0x1FFF2, 0x1FFF3, 0x1FFF4, 0x1FFF5
OTHER_THAN = 0x1FFFB  # 1 where x is not y, nan included, else 0
SQUARE, SQRT, EXP = 0x23, 0x25, 0x2A
FUNCTIONS = frozenset((SQUARE, SQRT, EXP))
SUM = 0  # adds what lies in the result already, times a factor that is part of the primitive
BAKED = FUNCTIONS | {SUM}  # have no operand when the call runs
OTHER = 2  # the second operand of a binary primitive
_LATER = 1 << 15  # its place among the arguments, for the first operation after


class Then:
    """Operations that follow, as `with Then(((MUL, (1,)), (SUM, 0.9))) as then:`.

    Args:
        operations: each with the shape of its other operand, or with the factor of `SUM`.
    """

    def __init__(self, operations: tuple) -> None:
        self.inputs: list = []
        self.attribute: Any = None
        self._operations = operations
        self._made: list = []

    def __enter__(self) -> Then:
        if self._operations:
            c, failed = lib.c, 0
            ops, attribute = self._made = [lib.made("post_ops_create"), lib.made("primitive_attr_create")]
            for i, (op, what) in enumerate(self._operations, 1):
                if op == SUM:
                    failed |= c.dnnl_post_ops_append_sum(ops, what, 0, 0)
                elif op in FUNCTIONS:
                    failed |= c.dnnl_post_ops_append_eltwise(ops, op, 0.0, 0.0)
                else:
                    self.inputs.append((_LATER * i | OTHER, plain(what)))
                    failed |= c.dnnl_post_ops_append_binary(ops, op, self.inputs[-1][1].at)
            if failed or c.dnnl_primitive_attr_set_post_ops(attribute, ops):
                self.__exit__()
                raise Refused("post_ops")
            self.attribute = C.c_void_p(attribute)
        return self

    def __exit__(self, *error: object) -> None:
        if self._made:
            lib.c.dnnl_post_ops_destroy(self._made[0])
            lib.c.dnnl_primitive_attr_destroy(self._made[1])
            self._made = []
