"""Machines of other years, projected from one that is known by the growth of its parts."""
