"""Memory of a process for receiving, by the design of its channels (ADR 67)."""
