"""A network of Linux network namespaces on this machine: nodes and switches of any described topology, joined by links
of a limited rate, on which unmodified MPI programs run (ADR 58)."""
