"""P. Richmond's lectures on occupancy: what they state, and an experiment on waves and tails."""
