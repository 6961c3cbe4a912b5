r"""Text from outside may have bytes that are not UTF-8: paths, arguments, the environment. Python holds these bytes as
lone surrogates, which no file in UTF-8 may contain and which other JSON parsers refuse. We write them as \xfb."""

from __future__ import annotations

import codecs
import json
import re

ESCAPES = "kumihimo_bytes"  # for errors= of files and streams
SURROGATES = re.compile("[\ud800-\udfff]+")


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


def to_json(value: object, **options) -> str:
    """JSON that every parser reads. `options`: those of json.dumps."""
    text = json.dumps(value, ensure_ascii=False, **options)
    return SURROGATES.sub(lambda found: escaped(found[0]).replace("\\", "\\\\"), text)
