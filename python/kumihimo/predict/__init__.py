"""Predictions: subjects, models and disturbances (ADR 55), and the verbs that are made of many predictions."""
