"""Closed forms beside the simulation: what one warp access moves, bank conflicts, Little's law."""
