"""The experiment grid: benchmark x protocol x model x seed -> run records."""
