"""Volkov, Better Performance at Lower Occupancy, part V: a 1024-point FFT with 2 and with 16 outputs per thread."""
