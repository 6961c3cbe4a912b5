"""Figures as people read them, in text and tables."""

from __future__ import annotations

import math

from kumihimo.text.sizes import text_of as size

_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_RATES = ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))


def significant(value: float, digits: int = 3) -> str:
    """1234.5 -> '1,230'; 0.01234 -> '0.0123'."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    value = float(f"{value:.{digits - 1}e}")
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:,.{max(0, decimals)}f}"


def seconds(value: float) -> str:
    return _scaled(value, _SECONDS)


def rate(value: float) -> str:
    return _scaled(value, _RATES)


def ratio(value: float) -> str:
    return f"{significant(value)}×"


def percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def shape(text: str) -> str:
    """48x6x32 -> 48×6×32."""
    return text.replace("x", "×")


def bytes_(value: int) -> str:
    """64KiB -> 64 KiB."""
    text = size(value)
    digits = text.rstrip("KMGTPEiB")
    return f"{digits} {text[len(digits) :] or 'B'}" if text != digits else f"{digits} B"


def label(algorithm: str) -> str:
    """recursive_doubling -> recursive doubling."""
    return algorithm.replace("_", " ")


def times(found: list[float] | None) -> str:
    """How many times as fast, from and to; empty if that is not known."""
    return " to ".join(dict.fromkeys(f"{each:.2f}" for each in found or ()))


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    factor, unit = next((u for u in units if abs(value) >= u[0] * 0.9995), units[-1])
    return f"{significant(value / factor)} {unit}"
