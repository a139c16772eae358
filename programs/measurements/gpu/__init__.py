"""Measuring on a GPU: plans of launches, a process that launches them, the counters of Nsight Compute, a table of what they gave."""
