"""The loops of the lecture notes on interval analysis: listings, published times, the comparison."""
