"""The documentation site, built from the pages of the repository by `python -m sim.docs`. See README.md beside this file."""
