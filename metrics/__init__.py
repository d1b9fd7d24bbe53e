"""The `evaluate` modules of temporal-rumors: one folder each, discovered by name."""
