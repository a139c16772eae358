"""Clusters before cycle 0: the groups of SMs that their blocks may share, and what may go wrong with them."""

import numpy as np

from isa.errors import UserError
from isa.program import Program
from isa.vocabulary import Flag, Operation
from sim.gpus.model import Gpu
from sim.gpus.occupancy import Occupancy
from sim.launch.launch import Launch


def cluster_numbers(gpu: Gpu, launch: Launch) -> dict[str, np.int64]:
    """Return the fields of Hardware about clusters, but for the groups."""
    clusters = gpu.clusters
    return {
        "ranks": np.int64(launch.ranks),
        "arrival_cycles": np.int64(clusters.arrival_cycles if clusters else 0),
        "cluster_latency": np.int64(clusters.barrier_latency if clusters else 1),
    }


def cluster_groups(gpu: Gpu, launch: Launch, occupancy: Occupancy) -> np.ndarray:
    """Return Hardware.groups. Raises UserError for a launch whose clusters the GPU cannot hold."""
    if launch.cluster_shape is None:
        return np.zeros(1, np.int64)
    check(gpu, launch, occupancy)
    return groups(gpu)


def groups(gpu: Gpu) -> np.ndarray:
    """Return int64 [groups + 1]: the first SM of each group, and the end of the last; of a GPU with fewer SMs as many as it has."""
    ends = np.cumsum((0, *(gpu.clusters.groups if gpu.clusters else ())))
    return np.unique(np.minimum(ends, gpu.sms)).astype(np.int64)


def check(gpu: Gpu, launch: Launch, occupancy: Occupancy) -> None:
    """Raise UserError for a launch whose clusters the GPU cannot hold."""
    path, name = launch.program.path, "x".join(map(str, launch.cluster_shape or ()))
    if gpu.clusters is None or gpu.memory.kind == "fixed":
        raise UserError(f"{gpu.name} has no clusters of blocks", path=path, hint="take h100 or h200, or give your GPU a section [clusters]")
    if gpu.blocks.policy != "emptiest" or gpu.blocks.order != "launch":
        message = (
            f"clusters start in launch order on the emptiest group; blocks.policy = {gpu.blocks.policy!r}, order = {gpu.blocks.order!r}"
        )
        raise UserError(message, path=path, hint="leave both out")
    most = int(np.diff(groups(gpu)).max(initial=0)) * occupancy.blocks
    if launch.ranks > most:
        message = f"a cluster of {name} blocks does not fit a group of SMs of {gpu.name}, which holds {most} blocks of this kernel at most"
        raise UserError(message, path=path, hint="smaller clusters, or blocks of which more fit an SM")


def may_leave(program: Program, i: int) -> bool:
    """Return whether instruction i may access shared memory of another block."""
    return bool(program.encoded.flags[i] & int(Flag.CLUSTER)) and program.encoded.operation[i] != Operation.BULK_COPY
