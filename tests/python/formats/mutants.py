"""Random wrong files: a valid file changed as disks, editors, other tools and attackers change files.

A mutant follows from the seed file, a number, and nothing else: the number of a failure makes the same bytes again."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

NUMBERS = (
    *("0", "-0", "-1", "1", "2", "2.7", "1e308", "1e309", "-1e308", "1e-400", "nan", "NaN", "inf", "-inf", "Infinity"),
    *("2147483647", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808"),
    *("18446744073709551616", "9" * 400, "1" + "0" * 5000, "0x10", "1_000", "007", "1e5", "٣", "1,5", "+1", ""),
)
VALUES = (
    "null",
    "true",
    "[]",
    "{}",
    '""',
    '"x"',
    "0",
    "-1",
    "2.7",
    "[[]]",
    '[1, "a"]',
    '{"a": 1}',
    "1e400",
    '"\\ud800"',
)
DEPTHS = (1_000, 20_000)
BRACKETS = (("[", "]"), ("{", "}"), ("(", ")"), ('{"a":', "}"), ("<a>", "</a>"), ("- ", ""), ("/*", "*/"), ("-", ""))
LONG = (300, 5_000, 140_000)
MANY_LINES = 2_000
CONTROLS = "\x00\x01\x07\x08\x0b\x0c\r\x1b\x7f\x85\u2028\u202e\ufeff"
NUMBER = re.compile(rb"[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_.-]*")
VALUE = re.compile(rb"(?<=[:=])[ \t]*([^\s,;{}\[\]<>][^,\n{}\[\]<>]*)")
TEXT = re.compile(rb'"([^"\n\\]*)(?=")')
SPAN = re.compile(rb"\[[^\[\]]*\]|\{[^{}]*\}|\"[^\"\n]*\"|<[^<>]*>|\([^()]*\)")


@dataclass(frozen=True)
class Mutant:
    number: int
    how: str
    data: bytes


Change = Callable[[bytes, random.Random], bytes]


def mutants(seed: bytes, count: int, first: int = 0) -> Iterator[Mutant]:
    """The first ones are the changes one by one, so that a small number has one of each kind."""
    for number in range(first, first + count):
        yield mutant(seed, number)


def mutant(seed: bytes, number: int) -> Mutant:
    chance = random.Random(number)
    changes = [CHANGES[number % len(CHANGES)]]
    if number >= len(CHANGES):
        changes += chance.choices(CHANGES, k=chance.choice((0, 0, 0, 1, 1, 2)))
    data = seed
    for change in changes:
        data = change(data, chance)
    return Mutant(number, " + ".join(change.__name__ for change in changes), data)


def place(data: bytes, chance: random.Random) -> int:
    return chance.randrange(len(data) + 1)


def span(data: bytes, chance: random.Random) -> tuple[int, int]:
    first = place(data, chance)
    return first, min(len(data), first + chance.choice((1, 1, 2, 4, 8, 32, 200)))


def put(data: bytes, first: int, last: int, new: bytes) -> bytes:
    return data[:first] + new + data[last:]


def replaced(pattern: re.Pattern, data: bytes, chance: random.Random, new: Callable[[bytes], bytes]) -> bytes:
    """One match at random, changed; without one a byte is flipped."""
    found = list(pattern.finditer(data))
    if not found:
        return flipped_bits(data, chance)
    match = chance.choice(found)
    group = 1 if pattern.groups else 0
    return put(data, match.start(group), match.end(group), new(match[group]))


def on_lines(data: bytes, change: Callable[[list[bytes]], None]) -> bytes:
    lines = data.splitlines(keepends=True) or [b"\n"]
    change(lines)
    return b"".join(lines)


# --- bytes


def flipped_bits(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data or b" ")
    for _ in range(chance.choice((1, 1, 2, 8))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def random_bytes(data: bytes, chance: random.Random) -> bytes:
    first, last = span(data, chance)
    return put(data, first, last, chance.randbytes(max(1, last - first)))


def deleted_bytes(data: bytes, chance: random.Random) -> bytes:
    return put(data, *span(data, chance), b"")


def inserted_bytes(data: bytes, chance: random.Random) -> bytes:
    at = place(data, chance)
    return put(data, at, at, chance.randbytes(chance.choice((1, 2, 16))))


def doubled_bytes(data: bytes, chance: random.Random) -> bytes:
    first, last = span(data, chance)
    return put(data, last, last, data[first:last] * chance.choice((1, 1, 100)))


def filled_bytes(data: bytes, chance: random.Random) -> bytes:
    first, last = span(data, chance)
    return put(data, first, last, bytes([chance.choice((0, 0xFF, 0x7F, 0x80))]) * (last - first))


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: place(data, chance)]


def emptied(data: bytes, chance: random.Random) -> bytes:
    return chance.choice((b"", b"", b"\n", b" \n\t\r\n", b"\xef\xbb\xbf", b"\x00"))


# --- lines


def swapped_lines(data: bytes, chance: random.Random) -> bytes:
    def change(lines: list[bytes]) -> None:
        a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
        lines[a], lines[b] = lines[b], lines[a]

    return on_lines(data, change)


def doubled_line(data: bytes, chance: random.Random) -> bytes:
    def change(lines: list[bytes]) -> None:
        lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))

    return on_lines(data, change)


def deleted_line(data: bytes, chance: random.Random) -> bytes:
    return on_lines(data, lambda lines: lines.pop(chance.randrange(len(lines))) and None)


def other_line_ends(data: bytes, chance: random.Random) -> bytes:
    return data.replace(b"\n", chance.choice((b"\r", b"\r\n", b"\n\n", b"\x0b", b"\x00", b" ", b"")))


def long_line(data: bytes, chance: random.Random) -> bytes:
    def change(lines: list[bytes]) -> None:
        i = chance.randrange(len(lines))
        lines[i] = lines[i].rstrip(b"\n") + chance.choice((b"x", b" ", b"9", b"\xff")) * chance.choice(LONG) + b"\n"

    return on_lines(data, change)


# --- words, numbers and values


def extreme_number(data: bytes, chance: random.Random) -> bytes:
    return replaced(NUMBER, data, chance, lambda _: chance.choice(NUMBERS).encode())


def misspelt_word(data: bytes, chance: random.Random) -> bytes:
    def change(word: bytes) -> bytes:
        i = chance.randrange(len(word))
        return chance.choice((word[:i] + word[i + 1 :], word + word[i:], word.swapcase(), b"", word + b" " + word))

    return replaced(WORD, data, chance, change)


def other_word(data: bytes, chance: random.Random) -> bytes:
    words = WORD.findall(data) or [b"x"]
    return replaced(WORD, data, chance, lambda _: chance.choice(words))


def long_word(data: bytes, chance: random.Random) -> bytes:
    return replaced(WORD, data, chance, lambda word: word + word[-1:] * chance.choice(LONG))


def other_type(data: bytes, chance: random.Random) -> bytes:
    """A list for a scalar, a text for a number ...; in JSON any value, in other text what follows a : or =."""
    try:
        found = json.loads(data)
    except ValueError:
        return replaced(VALUE, data, chance, lambda _: b" " + chance.choice(VALUES).encode())
    where = chance.choice(list(slots(found)) or [(None, None)])
    if where[0] is None:
        return chance.choice(VALUES).encode()
    where[0][where[1]] = "\0"
    return json.dumps(found, indent=1).encode().replace(b'"\\u0000"', chance.choice(VALUES).encode())


def slots(value: object) -> Iterator[tuple[object, object]]:
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from slots(value[key])


def controls(data: bytes, chance: random.Random) -> bytes:
    """As they are, or as texts of JSON and TOML and attributes of XML escape them."""
    raw = chance.choice((chance.choice(CONTROLS), "\x1b[31mred\x1b[0m", "\x1b]0;title\x07"))
    if chance.randrange(2):
        at = place(data, chance)
        return put(data, at, at, raw.encode())
    is_xml = data.lstrip().startswith(b"<")
    escaped = "".join(f"&#{ord(each)};" if is_xml else f"\\u{ord(each):04x}" for each in raw)
    return replaced(TEXT, data, chance, lambda old: old + escaped.encode())


# --- structure


def moved_span(data: bytes, chance: random.Random) -> bytes:
    """A list, table, text or element again in another place."""
    found = SPAN.findall(data) or [data[:100]]
    return replaced(SPAN, data, chance, lambda _: chance.choice(found))


def doubled_span(data: bytes, chance: random.Random) -> bytes:
    separator = chance.choice((b"", b", ", b"\n"))
    return replaced(SPAN, data, chance, lambda old: old + separator + old)


def deep_nesting(data: bytes, chance: random.Random) -> bytes:
    opening, closing = (part.encode() for part in chance.choice(BRACKETS))
    depth = chance.choice(DEPTHS)
    inside = chance.choice((b"", b"1", b'"x"'))
    new = opening * depth + inside + closing * chance.choice((depth, depth, 0))
    kind = chance.randrange(4)
    if kind == 0:
        return new
    if kind == 1:
        return replaced(VALUE, data, chance, lambda _: new)
    return replaced(SPAN, data, chance, lambda old: new.replace(inside, old) if inside and kind == 2 else new)


def deep_repetition(data: bytes, chance: random.Random) -> bytes:
    """The elements that begin the file, or a line with more and more blanks before it, again and again."""
    depth = chance.choice(DEPTHS)
    if begin := re.findall(rb"<[A-Za-z][^<>/?!]*>", data):
        return replaced(re.compile(re.escape(chance.choice(begin))), data, chance, lambda old: old * depth)

    def change(lines: list[bytes]) -> None:
        i = chance.randrange(len(lines))
        line = lines[i].strip()[:40] + b"\n"
        lines[i] = b"".join(b" " * n + line for n in range(500)) if depth == DEPTHS[0] else line * MANY_LINES

    return on_lines(data, change)


def dotted_key(data: bytes, chance: random.Random) -> bytes:
    return replaced(WORD, data, chance, lambda word: b".".join([word[:8]] * chance.choice(DEPTHS)))


def entities(data: bytes, chance: random.Random) -> bytes:
    """Of XML, anchors of YAML: each level names the one before several times."""
    if data.lstrip().startswith(b"<"):
        levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x"}">' for n in range(10))
        whole = re.sub(rb"<\?xml[^>]*>|<!DOCTYPE[^>]*>", b"", data)
        return replaced(VALUE, f"<!DOCTYPE a [{levels}]>".encode() + whole, chance, lambda _: b'"&e9;"')
    levels = "".join(f"  - &a{n} [{', '.join([f'*a{n - 1}' if n else 'x'] * 9)}]\n" for n in range(9))
    return replaced(VALUE, data, chance, lambda _: f"\n{levels}".encode())


# --- encodings


def other_encoding(data: bytes, chance: random.Random) -> bytes:
    text = data.decode("utf-8", errors="replace")
    return chance.choice(
        (
            text.encode("utf-16"),
            text.encode("utf-16-le"),
            text.encode("utf-32"),
            b"\xef\xbb\xbf" + data,
            b"\xfe\xff" + data,
            text.replace("e", "\u00e9").encode("latin-1", errors="replace"),
            text.encode("utf-7", errors="replace"),
            text.replace("a", "\u0430").encode(),
            text.replace(" ", "\u00a0").encode(),
        )
    )


CHANGES: tuple[Change, ...] = (
    flipped_bits,
    extreme_number,
    other_type,
    deep_nesting,
    cut,
    misspelt_word,
    other_encoding,
    moved_span,
    long_line,
    controls,
    deleted_line,
    deep_repetition,
    emptied,
    doubled_line,
    long_word,
    random_bytes,
    swapped_lines,
    other_word,
    doubled_span,
    other_line_ends,
    filled_bytes,
    dotted_key,
    deleted_bytes,
    entities,
    inserted_bytes,
    doubled_bytes,
)
