"""The networks between nodes, which src/run/mpi_transport/networks/networks.def lists."""

from __future__ import annotations

from kumihimo.text.errors import did_you_mean, wrong_value

NETWORKS = ("mpi", "fabric")  # the first without a name


def checked(name: str | None, of: str = "--network") -> str:
    """The value of KUMIHIMO_NETWORK, or empty for what the environment says. `of`: who gives the name."""
    if name is not None and name not in NETWORKS:
        raise wrong_value(f"{of} must be one of {', '.join(NETWORKS)}", repr(name), did_you_mean(name, NETWORKS))
    return name or ""
