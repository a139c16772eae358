"""V. Volkov, Better Performance at Lower Occupancy: the statements that stand beside its four experiments."""
