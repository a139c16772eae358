"""The memory hierarchy of the Numba engine: load/store unit, L1, network, L2, DRAM. See the README of `sim.timing`."""
