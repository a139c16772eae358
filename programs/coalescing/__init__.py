"""Memory coalescing: a lecture's examples, the older generations' rules, and an H100's counters."""
