"""Volkov and Demmel, SC 2008: listings for compute capability 1.x, published numbers, experiments."""
