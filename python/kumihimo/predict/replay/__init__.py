"""Recorded programs, run again in a model."""
