"""GPUs as data: one TOML per GPU, each number with its source, and the occupancy rules."""

from sim.gpus.loader import load, names
from sim.gpus.model import Gpu

__all__ = ["Gpu", "load", "names"]
