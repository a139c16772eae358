"""Bandwidth against occupancy on GPUs from V100 to GH200: listings, published numbers, the experiment."""
