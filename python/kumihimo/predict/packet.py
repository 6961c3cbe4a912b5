"""The options of the packet model (ADR 40), as the user gives them."""

from __future__ import annotations

from typing import Any

from kumihimo import _packet
from kumihimo.text.errors import wrong_value

ROUTINGS = ("dimension_order", "adaptive")
LARGEST = 2**40


def options(routing: str | None, packet_bytes: int | None, buffer_packets: int | None, seed: int) -> _packet.Options:
    """`routing`: of ROUTINGS, or none."""
    given = {"packet_bytes": packet_bytes, "buffer_packets": buffer_packets}
    for name, number in (*given.items(), ("packet_seed", seed)):
        least = 0 if name == "packet_seed" else 1
        if number is not None and not least <= number < LARGEST:
            raise wrong_value(f"--{name.replace('_', '-')} must be {least} to {LARGEST - 1}", number)
    numbers: dict[str, Any] = {name: number for name, number in given.items() if number is not None}
    return _packet.Options(adaptive=routing == "adaptive", seed=seed, **numbers)
