"""Random kernels whose results on a GPU and here must be the same bits: see README.md."""
