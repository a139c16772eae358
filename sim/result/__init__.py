"""What a run found, as values. See README.md beside this file."""
