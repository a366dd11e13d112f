"""Ranks as a grid: a group along each of its dimensions.

Invariant: all ranks make all groups, in the same order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ranks.group import default
from ..ranks.subgroups import new_subgroups_by_enumeration

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """Ranks as a grid.

    Args:
        device_type: "cpu" or "cuda".
        mesh: the ranks, as nested lists.
        mesh_dim_names: a name for each dimension.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> mesh = dist.init_device_mesh("cpu", (1, 1), mesh_dim_names=("data", "model"))
        >>> mesh.ndim, mesh.shape, mesh.size(), mesh.get_rank(), mesh.get_local_rank("model"), mesh.get_coordinate()
        (2, (1, 1), 1, 0, 0, [0, 0])
        >>> mesh.mesh
        tensor([[0]])
        >>> mesh["model"].get_group().size(), mesh.get_group("data").size(), len(mesh.get_all_groups())
        (1, 1, 2)
        >>> dist.destroy_process_group()
    """

    def __init__(
        self, device_type: str, mesh: Any = None, *, mesh_dim_names: Any = None, _groups: Any = None
    ) -> None:
        world = default()
        self.device_type = device_type
        self._ranks = np.asarray(
            world.ranks if mesh is None else mesh.tolist() if hasattr(mesh, "tolist") else mesh
        )
        self.mesh_dim_names = tuple(mesh_dim_names) if mesh_dim_names else None
        if self.mesh_dim_names and len(self.mesh_dim_names) != self._ranks.ndim:
            raise RuntimeError(
                f"mesh_shape and mesh_dim_names should have same length! Found len(mesh_dim_names): "
                f"{len(self.mesh_dim_names)} and len(mesh_shape): {self._ranks.ndim}."
            )
        self._here = world.rank()
        if _groups is not None:
            self._groups = _groups
        elif self._ranks.ndim == 1 and self._ranks.size == world.size():
            self._groups = [world]
        else:
            self._groups = []
            for dim in range(self._ranks.ndim):
                rows = np.moveaxis(self._ranks, dim, -1).reshape(-1, self._ranks.shape[dim]).tolist()
                self._groups.append(new_subgroups_by_enumeration(rows)[0])

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return self._ranks.ndim

    @property
    def shape(self) -> tuple:
        """How many ranks there are along each."""
        return self._ranks.shape

    @property
    def mesh(self) -> Any:
        """The ranks, as a tensor."""
        from .. import tensor

        return tensor(self._ranks.tolist())

    def size(self, mesh_dim: int | None = None) -> int:
        """How many ranks there are, in all or along a dimension."""
        return self._ranks.size if mesh_dim is None else self._ranks.shape[mesh_dim]

    def _dim(self, given: Any) -> int:
        if given is None:
            if self.ndim > 1:
                raise RuntimeError(
                    f"Found the DeviceMesh have {self.ndim} dimensions Optional kwarg `mesh_dim` needs to be specified "
                    "when device_mesh.ndim > 1."
                )
            return 0
        if isinstance(given, str):
            if given not in (self.mesh_dim_names or ()):
                raise KeyError(
                    f"Invalid mesh_dim_names {given}. Valid mesh_dim_names are {self.mesh_dim_names}."
                )
            assert self.mesh_dim_names is not None
            return self.mesh_dim_names.index(given)
        return given

    def get_group(self, mesh_dim: int | str | None = None) -> Any:
        """The group of this rank along a dimension."""
        return self._groups[self._dim(mesh_dim)]

    def get_all_groups(self) -> list:
        """The groups of this rank, one for each dimension."""
        return list(self._groups)

    def get_rank(self) -> int:
        """This process's number in the job."""
        return self._here

    def get_coordinate(self) -> list[int] | None:
        """Where this rank is in the grid."""
        found = np.argwhere(self._ranks == self._here)
        return found[0].tolist() if len(found) else None

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """Where this rank is along a dimension."""
        place = self.get_coordinate()
        assert place is not None
        return place[self._dim(mesh_dim)]

    def __getitem__(self, name: str) -> DeviceMesh:
        dim, place = self._dim(name), self.get_coordinate()
        assert place is not None
        row = self._ranks[tuple(slice(None) if i == dim else at for i, at in enumerate(place))]
        return DeviceMesh(self.device_type, row, mesh_dim_names=(name,), _groups=[self._groups[dim]])

    def __repr__(self) -> str:
        return (
            f"DeviceMesh({self.device_type!r}, {self._ranks.tolist()}, mesh_dim_names={self.mesh_dim_names})"
        )


def init_device_mesh(
    device_type: str, mesh_shape: tuple, *, mesh_dim_names: Any = None, backend_override: Any = None
) -> DeviceMesh:
    """Make a grid of all ranks.

    Args:
        device_type: "cpu" or "cuda".
        mesh_shape: how many ranks there are along each dimension.
        mesh_dim_names: a name for each dimension.
        backend_override: PyTorch's; not used.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.init_device_mesh("cpu", (1,))
        DeviceMesh('cpu', [0], mesh_dim_names=None)
        >>> dist.destroy_process_group()
    """
    count = int(np.prod(mesh_shape))
    if count > default().size():
        raise RuntimeError(
            f"Mesh should not be bigger than default world size {default().size()}, but found {count} ranks!"
        )
    return DeviceMesh(device_type, np.arange(count).reshape(mesh_shape), mesh_dim_names=mesh_dim_names)
