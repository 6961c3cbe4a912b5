"""How programs with kumihimo/remote_memory.h are compiled, and the providers that they are run over."""

PROVIDERS = ("tcp;ofi_rxm", "net", "shm")
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2")
