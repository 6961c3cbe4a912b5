"""Figures that were published of machines, each beside what is predicted of it.

To add one, write a row in the module of its subject; registry.py gathers them. A prediction is computed when it is
asked for, by functions that other commands use, and no number is fitted to its figure."""
