"""Clusters that a launch cannot have, in words."""

import numpy as np

from isa.architecture import parameter_base
from isa.errors import UserError
from sim.launch.launch import Launch

MOST_RANKS = 16  # blocks of a cluster; for more than 8 a CUDA program asks


def check_cluster(launch: Launch, is_sample: bool) -> None:
    """Raise UserError when the launch's clusters cannot be: on sm_90, of at most 16 blocks, of which the grid has a multiple."""
    shape, program = launch.cluster_shape, launch.program
    if shape is None:
        return
    if is_sample:
        raise UserError("a sample of blocks has no whole clusters", path=program.path, hint="execute all blocks: leave the sample out")
    if launch.cluster and program.cluster and (*launch.cluster, 1, 1)[:3] != (*program.cluster, 1, 1)[:3]:
        message = f"cluster {launch.cluster}: kernel {program.name} was compiled for clusters of {' x '.join(map(str, program.cluster))}"
        raise UserError(message, path=program.path, hint="leave the cluster out, or compile it without __cluster_dims__")
    if any(not isinstance(size, int | np.integer) or size < 1 for size in shape) or launch.ranks > MOST_RANKS:
        raise UserError(f"cluster {shape}: one to three whole numbers, at most {MOST_RANKS} blocks in all", path=program.path)
    if any(blocks % size for blocks, size in zip((*launch.grid, 1, 1), shape, strict=False)):
        message = f"grid {tuple(launch.grid)} is not a multiple of the cluster {shape}"
        raise UserError(message, path=program.path, hint="each size of the grid is a multiple of the cluster's")
    if program.parameter_base != parameter_base("sm_90"):
        base, target = parameter_base("sm_90"), program.architecture or "no architecture"
        message = f"clusters are modelled for sm_90, whose parameters lie from {base:#x} on; the program is for {target}"
        hint = f"compile it for sm_90; in a listing of your own write `.target sm_90` and `.parameter_base {base:#x}` behind `.kernel`"
        raise UserError(message, path=program.path, hint=hint)
