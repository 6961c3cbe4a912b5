"""What checkpoints and failures cost a long program (ADR 45)."""
