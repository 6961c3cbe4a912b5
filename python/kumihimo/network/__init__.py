"""Machines: files of other tools that describe them, measurements of a node, and placements of ranks."""
