"""Warp scheduling from two papers: a small active set, and a scheduler that keeps lines of L1 for those that brought them."""
