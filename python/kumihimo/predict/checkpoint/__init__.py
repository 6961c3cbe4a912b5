"""Cost of checkpoints and failures to a long program (ADR 45)."""
