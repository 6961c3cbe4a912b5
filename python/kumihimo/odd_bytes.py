r"""Text from outside may have bytes that are not UTF-8: paths, arguments, the environment. Python holds these bytes as
lone surrogates, which no file in UTF-8 may contain and which other JSON parsers refuse. We write them as \xfb.

Names in files may have control characters, by which a terminal would be steered. We print them as \x1b."""

from __future__ import annotations

import codecs
import io
import json
import re

ESCAPES = "kumihimo_bytes"  # for errors= of files and streams
SURROGATES = re.compile("[\ud800-\udfff]+")
# All but tab and newline; ends of lines that only Unicode has; and those that change the direction of writing.
CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def bytes_readably(error: UnicodeError) -> tuple[str, int]:
    r"""Bytes that are not UTF-8 as \xfb."""
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


def harmless(text: str) -> str:
    r"""The text with its control characters as \x1b or \u202e."""
    return CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)


class Output(io.TextIOWrapper):
    """Standard output that prints no control characters."""

    def write(self, text: str) -> int:
        return super().write(harmless(text))


def to_json(value: object, **options) -> str:
    """JSON that every parser reads. `options`: those of json.dumps."""
    text = SURROGATES.sub(_as_backslashes, json.dumps(value, ensure_ascii=False, **options))
    return CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _as_backslashes(found: re.Match) -> str:
    return escaped(found[0]).replace("\\", "\\\\")
