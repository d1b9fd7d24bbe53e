"""The benchmarks of temporal-rumors: one folder each, discovered by name."""
