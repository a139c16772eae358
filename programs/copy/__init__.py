"""Volkov, Better Performance at Lower Occupancy, part II: copies, their published numbers, the experiment."""
