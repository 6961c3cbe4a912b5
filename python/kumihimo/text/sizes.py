"""Sizes as people write them: `8`, `64KiB`, `1GiB`, `16MB`, ranges `8..16MiB` and lists `8,64KiB,1MiB..1GiB`."""

from __future__ import annotations

import re

from kumihimo.text.errors import BadInput, wrong_value

LARGEST = 2**63 - 1
_BINARY = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50, "EiB": 2**60}
_UNITS = {
    **{unit.lower(): factor for unit, factor in _BINARY.items()},
    **{"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "pb": 10**15, "eb": 10**18},
}
_SIZE = re.compile(r"(-?[0-9]{1,99}(?:\.[0-9]{1,99})?) *([a-zA-Z]*)")
RULE = "a size must be a whole number of bytes, such as 8, 64KiB, 1.5GiB or 16MB"


def parse_size(text: str, least: int = 1) -> int:
    """Bytes. Ki, Mi, Gi, Ti, Pi, Ei are powers of 1024; k, M, G, T, P, E of 1000."""
    match = _SIZE.fullmatch(text.strip())
    factor = _UNITS.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise wrong_value(RULE, f"'{text}'")
    whole, _, decimals = match[1].partition(".")
    size, rest = divmod(int(whole + decimals) * factor, 10 ** len(decimals))
    if rest:
        raise wrong_value(RULE, f"'{text}', which is not a whole number of bytes")
    if size < least:
        raise wrong_value(f"a size must be at least {least} byte{'s' if least != 1 else ''}", f"'{text}'")
    if size > LARGEST:
        raise wrong_value("a size must be less than 8 EiB", f"'{text}'")
    return size


def parse_rate(text: str, name: str) -> int:
    """Bytes a second: `1.5TB/s`. `name`: the option, for the error."""
    size, slash, unit = text.strip().partition("/")
    if slash and unit.strip() != "s":
        raise wrong_value(f"{name} must be a rate such as 1.5TB/s", f"'{text}'")
    try:
        return parse_size(size)
    except BadInput:
        raise wrong_value(f"{name} must be a rate such as 1.5TB/s", f"'{text}'") from None


def parse_sizes(text: str, least: int = 1) -> list[int]:
    """A list of sizes and ranges; `A..B` is A doubled as long as it is at most B. In the order written, each once."""
    sizes: list[int] = []
    for item in text.split(","):
        low, dots, high = item.partition("..")
        if not dots:
            if ends := re.fullmatch(r"([0-9][^-]*)-([^-]+)", item.strip()):
                raise wrong_value("a range of sizes must be written A..B", f"'{item}'", f"write {ends[1]}..{ends[2]}")
            sizes.append(parse_size(item, least))
            continue
        size, last = parse_size(low, max(1, least)), parse_size(high, least)
        if size > last:
            raise wrong_value(
                "a range of sizes must run from the smaller to the larger", f"'{item}'", f"write {high}..{low}"
            )
        while size <= last:
            sizes.append(size)
            size *= 2
    return list(dict.fromkeys(sizes))


def text_of(size: int) -> str:
    """In the largest binary unit that divides it: parse_size reads the same size back."""
    unit, factor = max(
        ((u, f) for u, f in _BINARY.items() if size % f == 0 and size >= f), key=lambda u: u[1], default=("", 1)
    )
    return f"{size // factor}{unit}"


def with_unit(size: int) -> str:
    """As text_of, for sentences."""
    text = text_of(size)
    return text if text.endswith("B") else f"{text} B"
