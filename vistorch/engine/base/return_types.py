"""The named tuples that operations with several results return, as `vistorch.max(x, dim=0)` does.

Invariant: each is a tuple in every respect, with the field names and the text of its PyTorch namesake.

The types are named like Python's own functions (`max`, `min`, ...): nothing in this module may call those.
"""

from operator import itemgetter
from types import new_class
from typing import Any, ClassVar

from ..library_name import library


def _read_only(self: Any, value: Any) -> None:
    """Refuse to write a field."""
    raise AttributeError("readonly attribute")


class _Named(tuple[Any, ...]):
    """A tuple whose items have names; its subclasses are made by `_type` alone."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()  # not `_fields`, which would pass for a namedtuple
    n_fields: ClassVar[int] = 0
    n_sequence_fields: ClassVar[int] = 0
    n_unnamed_fields: ClassVar[int] = 0

    def __init_subclass__(cls, made_here: bool = False) -> None:
        """Refuse subclasses of the finished types."""
        if not made_here:
            base = cls.__mro__[1].__name__
            raise TypeError(f"type '{library}.return_types.{base}' is not an acceptable base type")

    def __new__(cls, sequence: Any, dict: Any = None) -> "_Named":
        """Check the number of items; `make` is the way without checks."""
        try:
            items = tuple(sequence)
        except TypeError:
            raise TypeError("constructor requires a sequence") from None
        if len(items) != cls.n_fields:
            raise TypeError(
                f"{library}.return_types.{cls.__name__}() takes a {cls.n_fields}-sequence "
                f"({len(items)}-sequence given)"
            )
        return tuple.__new__(cls, items)

    def __repr__(self) -> str:
        items = ",\n".join(f"{name}={value!r}" for name, value in zip(self.__match_args__, self, strict=True))
        return f"{library}.return_types.{type(self).__name__}(\n{items})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self), {})


make = tuple.__new__
"""`make(max, (values, indices))`: build one of the types from a tuple of the right length, unchecked."""


def _type(name: str, *fields: str) -> Any:
    """Build the type of one operation's results."""
    members: dict[str, Any] = {
        "__doc__": f"The results of `{name}`: {', '.join(fields)}.",
        "__module__": __name__,
        "__slots__": (),
        "__match_args__": fields,
        "n_fields": len(fields),
        "n_sequence_fields": len(fields),
    }
    for position, field in enumerate(fields):
        members[field] = property(itemgetter(position), _read_only, doc=f"Item {position}.")
    return new_class(name, (_Named,), {"made_here": True}, lambda body: body.update(members))


aminmax = _type("aminmax", "min", "max")
cummax = _type("cummax", "values", "indices")
cummin = _type("cummin", "values", "indices")
frexp = _type("frexp", "mantissa", "exponent")
geqrf = _type("geqrf", "a", "tau")
histogram = _type("histogram", "hist", "bin_edges")
histogramdd = _type("histogramdd", "hist", "bin_edges")
kthvalue = _type("kthvalue", "values", "indices")
linalg_cholesky_ex = _type("linalg_cholesky_ex", "L", "info")
linalg_eig = _type("linalg_eig", "eigenvalues", "eigenvectors")
linalg_eigh = _type("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_inv_ex = _type("linalg_inv_ex", "inverse", "info")
linalg_ldl_factor = _type("linalg_ldl_factor", "LD", "pivots")
linalg_ldl_factor_ex = _type("linalg_ldl_factor_ex", "LD", "pivots", "info")
linalg_lstsq = _type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
linalg_lu = _type("linalg_lu", "P", "L", "U")
linalg_lu_factor = _type("linalg_lu_factor", "LU", "pivots")
linalg_lu_factor_ex = _type("linalg_lu_factor_ex", "LU", "pivots", "info")
linalg_qr = _type("linalg_qr", "Q", "R")
linalg_slogdet = _type("linalg_slogdet", "sign", "logabsdet")
linalg_solve_ex = _type("linalg_solve_ex", "result", "info")
linalg_svd = _type("linalg_svd", "U", "S", "Vh")
lu_unpack = _type("lu_unpack", "P", "L", "U")
max = _type("max", "values", "indices")
median = _type("median", "values", "indices")
min = _type("min", "values", "indices")
mode = _type("mode", "values", "indices")
nanmedian = _type("nanmedian", "values", "indices")
qr = _type("qr", "Q", "R")
slogdet = _type("slogdet", "sign", "logabsdet")
sort = _type("sort", "values", "indices")
svd = _type("svd", "U", "S", "V")
topk = _type("topk", "values", "indices")
triangular_solve = _type("triangular_solve", "solution", "cloned_coefficient")
