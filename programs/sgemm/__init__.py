"""Volkov, Better Performance at Lower Occupancy, part IV: the SGEMM ladder, its published numbers, the experiment."""
