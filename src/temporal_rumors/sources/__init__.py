"""Upstream files: where they are found, and how each format is read into posts."""
