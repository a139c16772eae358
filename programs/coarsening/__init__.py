"""Thread coarsening: the same kernel with 1 to 16 outputs per thread, where it pays and where registers end it."""
