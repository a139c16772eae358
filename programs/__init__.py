"""Listings with their launch files, and the published numbers that they reproduce."""
