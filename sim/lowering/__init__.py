"""Machine and program as integer tables, before cycle 0. See README.md beside this file."""
