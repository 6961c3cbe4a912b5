"""Placement of a program's ranks on a machine's nodes, by who sends how much to whom."""
