"""Products on tensor cores by the depth of their pipeline: sweeps of kernels and machines that nobody has."""
