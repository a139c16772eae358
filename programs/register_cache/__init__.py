"""Register file caches, counted against what two papers state."""
