"""All that knows Numba and the host's processor. See README.md beside this file."""
