"""`kumihimo simulate memory`: how much memory a process needs to receive from its peers, by the design of channels."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from kumihimo.cli import options, output
from kumihimo.cli.options import option
from kumihimo.predict.memory import patterns
from kumihimo.predict.memory.designs import DESIGNS, PROMOTED_AFTER, PUBLISHED, PatternOfRank, library, state
from kumihimo.text.errors import wrong_value

RANKS = "100,1000,10000,82944,100000,1000000"
MOST_RANKS = 2**31 - 1
COLUMNS = ("ranks>", "peers>", *(f"{name}>" for name in DESIGNS), "tables>", "library>")
STEPS = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def command(
    pattern: option(
        "--pattern -p NAME",
        "Who sends to a process: all, ring, recursive_doubling, halo:6, halo:26, or a number of peers.",
    ) = "all",
    messages: option("--messages N", "Messages from each peer.", int) = PROMOTED_AFTER,
    ranks: option("--ranks -n LIST", "Numbers of ranks.") = RANKS,
    traffic: option("--traffic FILE", "Traffic file: sender, receiver, bytes and messages a line.", Path) = None,
    as_json: options.Json = False,
) -> None:
    """Predict the memory of a process for receiving, in the ordinary design of channels, with two modes as on the K
    computer, and in ours.

    \b
    Example:
    kumihimo simulate memory --pattern halo:26 --ranks 1000,82944
    """
    if messages < 1:
        raise wrong_value("--messages must be at least 1", messages)
    found = (
        [patterns.of_file(traffic)]
        if traffic
        else [patterns.by_name(pattern, number, messages) for number in numbers_of(ranks)]
    )
    if as_json:
        return output.print_results_json([as_object(each) for each in found])
    title = "Bytes of the process with most peers"
    output.print_table(title, COLUMNS, [row(each) for each in found])
    print()
    output.print_table("Published", ("what", "bytes>"), PUBLISHED)
    return None


def numbers_of(text: str) -> list[int]:
    rule = "--ranks must be a list of numbers such as 100,82944"
    try:
        numbers = [int(word) for word in text.split(",")]
    except ValueError:
        raise wrong_value(rule, repr(text)) from None
    for number in numbers:
        if not 2 <= number <= MOST_RANKS:
            raise wrong_value(f"{rule}, each 2 to {MOST_RANKS}", number)
    return list(dict.fromkeys(numbers))


def as_object(pattern: PatternOfRank) -> dict:
    bytes_of = {name.replace(" ", "_"): design(pattern) for name, design in DESIGNS.items()}
    return {**asdict(pattern), "bytes": bytes_of, "table_bytes": state(pattern), "library_bytes": library(pattern)}


def row(pattern: PatternOfRank) -> tuple[str, ...]:
    sizes = (*(design(pattern) for design in DESIGNS.values()), state(pattern), library(pattern))
    return (str(pattern.ranks), str(pattern.peers), *map(text_of, sizes))


def text_of(size: int) -> str:
    for factor, unit in STEPS:
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} B"
