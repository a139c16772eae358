"""The five documents that simtlab reproduces: which statement comes out where, and the arithmetic that they do beside."""
