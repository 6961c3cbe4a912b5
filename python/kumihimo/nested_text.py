"""JSON and TOML of files, with one limit of depth: what reads or writes their values recurses."""

from __future__ import annotations

import json
import re
from itertools import chain

MOST_LEVELS = 256  # of lists and tables within each other; toml++, which reads machine files, has the same limit
# A key of TOML, each part of which is a table in the one before. The reader's time and memory grow with their square.
PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
DOTTED = re.compile(rf"(?:^|[\[{{,])[ \t]*(?:{PART}[ \t]*\.[ \t]*){{{MOST_LEVELS}}}", re.MULTILINE)


class TooDeepError(ValueError):
    def __init__(self) -> None:
        super().__init__(f"nested more than {MOST_LEVELS} levels deep")


def json_of(text: str | bytes, **hooks) -> object:
    """`hooks`: those of json.loads. Raises ValueError."""
    try:
        value = json.loads(text, **hooks)
    except RecursionError:
        raise TooDeepError from None
    return _checked(value)


def toml_of(text: str) -> dict:
    """Raises ValueError."""
    if DOTTED.search(text):
        raise TooDeepError
    try:
        import tomllib
    except ModuleNotFoundError:  # before Python 3.11
        import tomli as tomllib
    try:
        value = tomllib.loads(text)
    except RecursionError:
        raise TooDeepError from None
    return _checked(value)


def _checked(value):
    """A level at a time, since a recursion would need a limit itself."""
    level = [value]
    for _ in range(MOST_LEVELS + 1):
        tables = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, (dict, list))]
        if not tables:
            return value
        level = list(chain.from_iterable(tables))
    raise TooDeepError
