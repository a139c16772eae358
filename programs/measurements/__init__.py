"""Measurements of real GPUs, the kernels that were measured as their compiler left them, and the experiments run again."""
