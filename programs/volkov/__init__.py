"""Volkov, Better Performance at Lower Occupancy: listings, published numbers, the experiment."""
