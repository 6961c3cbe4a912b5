"""A machine's few physical numbers, fitted to measured times (ADR 43)."""
