"""The memory hierarchy of the reference engine. See README.md in the folder above."""
