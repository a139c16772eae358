"""A population of launches, drawn from a seed, measured and scored."""
