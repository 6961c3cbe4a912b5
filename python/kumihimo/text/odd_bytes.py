r"""Text from outside: paths, arguments, the environment, names in files.

It may have bytes that are not UTF-8. Python holds these as lone surrogates, which no file in UTF-8 may contain and
which other JSON parsers refuse: we write them as \xfb. It may have characters that command a terminal: it is shown with
\x1b or \u009b in their place."""

from __future__ import annotations

import codecs
import json
import re

ESCAPES = "kumihimo_bytes"  # for errors= of files and streams
SURROGATES = re.compile("[\ud800-\udfff]+")

# All controls but tab and line feed, and what changes the direction of a text.
COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def bytes_readably(error: UnicodeError) -> tuple[str, int]:
    r"""Bytes that are not UTF-8 as \xfb."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return escaped(error.object[error.start : error.end]), error.end


codecs.register_error(ESCAPES, bytes_readably)


def escaped(text: str) -> str:
    try:
        return "".join(f"\\x{byte:02x}" for byte in text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:  # other surrogates, as JSON may have them
        return ascii(text)[1:-1]


def printable(text: str) -> str:
    r"""The text in UTF-8, with other bytes as \xfb."""
    return SURROGATES.sub(lambda found: escaped(found[0]), text)


def visible(text: str) -> str:
    r"""The text without commands to a terminal. Those that JSON may have in a string look as JSON writes them."""
    return COMMANDS.sub(lambda found: (r"\x{:02x}" if found[0] < " " else r"\u{:04x}").format(ord(found[0])), text)


def on_one_line(text: str) -> str:
    return visible(text).replace("\n", r"\n").replace("\t", r"\t")


def to_json(value: object, **options) -> str:
    """JSON that every parser reads. `options`: those of json.dumps."""
    text = visible(json.dumps(value, ensure_ascii=False, **options))
    return SURROGATES.sub(lambda found: escaped(found[0]).replace("\\", "\\\\"), text)
