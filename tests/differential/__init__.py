"""Both engines on the same random machines and programs."""
