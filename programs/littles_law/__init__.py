"""Little's law: the parallelism that hides arithmetic and memory latency, published and of the presets."""
