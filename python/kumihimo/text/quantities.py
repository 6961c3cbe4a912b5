"""Times, rates, shares and counts as people read them."""

from __future__ import annotations


def seconds_text(seconds: float) -> str:
    """Three digits in the unit that suits: "152 ms"."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= factor:
            return f"{_digits(seconds / factor)} {unit}"
    return f"{_digits(seconds / 1e-9)} ns"


def rate_text(bytes_per_second: float | None) -> str:
    """Three digits in powers of 1000: "7.12 GB/s"."""
    if bytes_per_second is None:
        return ""
    for unit, factor in (("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if bytes_per_second >= factor:
            return f"{_digits(bytes_per_second / factor)} {unit}"
    return f"{_digits(bytes_per_second)} B/s"


def flops_text(flops: float) -> str:
    """Three digits of flop/s in powers of 1000: "1.23 EF"."""
    for unit, factor in (("EF", 1e18), ("PF", 1e15), ("TF", 1e12), ("GF", 1e9), ("MF", 1e6)):
        if flops >= factor:
            return f"{_digits(flops / factor)} {unit}"
    return f"{_digits(flops)} F"


def bytes_text(size: float) -> str:
    """Three digits: "1.25 MiB", "341 MiB"."""
    value, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.0f} B" if unit == "B" else f"{value:.3g} {unit}" if value < 999.5 else f"{value:.0f} {unit}"


def share_text(share: float) -> str:
    """In percent: "56 %", "0.3 %". What rounds to nothing has no sign."""
    text = f"{100 * share:.0f}" if abs(share) >= 0.0995 or share == 0 else f"{100 * share:.1f}"
    return f"{text.removeprefix('-') if float(text) == 0 else text} %"


def counted(number: int, noun: str) -> str:
    """3, launch -> 3 launches."""
    return f"{number} {noun}{'' if number == 1 else 'es' if noun.endswith('ch') else 's'}"


def _digits(number: float) -> str:
    return f"{number:.0f}" if number >= 99.95 else f"{number:.3g}"
