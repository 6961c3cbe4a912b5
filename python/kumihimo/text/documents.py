"""XML, YAML and JSON of other tools and of users: trees with the line of each value, and typed values from them.

Every reader of nested text goes through here, so that one limit holds for all: nothing that recurses over a tree meets
one deeper than MOST_DEPTH. A known object may have known keys only: fields() refuses all others by name.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from kumihimo.text.errors import BadInput, did_you_mean, missing, wrong_value
from kumihimo.text.json_types import JsonObject

MOST_DEPTH = 64  # as Slurm's reader of YAML; hwloc and SimGrid need a third of it
MOST_ELEMENTS = 2**21  # of XML, or values of YAML; a few hundred bytes each
# A key of TOML, each part of which is a table in the one before. The reader's time and memory grow with their square.
_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_DEEP_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*(?:{_PART}[ \t]*\.[ \t]*){{{MOST_DEPTH}}}", re.MULTILINE)
LONGEST_COUNT = 9  # digits
# A text may lack its end, so that each character is looked at once. Python before 3.11 has no possessive `*+`.
_JSON_PARTS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
YES, NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True)
class Value:
    """A value of a document: a text, a list, or an object with keys. `where`: its file and line."""

    content: str | list[Value] | dict[str, Value]
    where: str

    def wrong(self, rule: str, got: object = None, advice: str = "") -> BadInput:
        return wrong_value(f"{self.where}: {rule}", got, advice)

    def text(self, what: str) -> str:
        if not isinstance(self.content, str):
            raise self.wrong(f"{what} must be a text", self.kind)
        return self.content

    def count(self, what: str, least: int = 1) -> int:
        text = self.text(what).strip()
        if re.fullmatch(rf"[0-9]{{1,{LONGEST_COUNT}}}", text) is None or int(text) < least:
            raise self.wrong(f"{what} must be a whole number from {least} on", f"'{text}'")
        return int(text)

    def flag(self, what: str) -> bool:
        text = self.text(what).strip().lower()
        if text not in (*YES, *NO):
            raise self.wrong(f"{what} must be true or false", f"'{text}'")
        return text in YES

    def items(self, what: str) -> list[Value]:
        if not isinstance(self.content, list):
            raise self.wrong(f"{what} must be a list", self.kind)
        return self.content

    def fields(self, what: str, known: Iterable[str], needed: Iterable[str] = ()) -> dict[str, Value]:
        """The values of an object by key. Any other key is refused, and one of `needed` that is not there."""
        if not isinstance(self.content, dict):
            raise self.wrong(f"{what} must be an object with the keys {', '.join(known)}", self.kind)
        for key, value in self.content.items():
            if key not in known:
                raise value.wrong(
                    f"{what} has no key '{key}'", None, did_you_mean(key, known, f"use one of {', '.join(known)}")
                )
        for key in needed:
            if key not in self.content:
                raise missing(f"{self.where}: '{key}' of {what}", "add it")
        return self.content

    @property
    def kind(self) -> str:
        if isinstance(self.content, str):
            return f"'{self.content}'"
        return "a list" if isinstance(self.content, list) else "an object"


@dataclass
class XmlElement:
    """An element of XML. `fields`: its attributes, which are the content of `value`."""

    __slots__ = ("children", "fields", "tag", "value")
    tag: str
    value: Value
    fields: dict[str, Value]
    children: list[XmlElement]

    @property
    def where(self) -> str:
        return self.value.where

    def get(self, key: str, otherwise: str = "") -> str:
        value = self.fields.get(key)
        return otherwise if value is None else value.text(f"{key}=")

    def iter(self, tag: str = "") -> Iterator[XmlElement]:
        """This element and all below it in the order of the file, of this tag or of any."""
        if tag in ("", self.tag):
            yield self
        for child in self.children:
            yield from child.iter(tag)


def is_xml(data: bytes) -> bool:
    """In UTF-8, in an encoding like it, or in UTF-16."""
    return re.match(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\x00]*<", data) is not None


def read_xml(data: bytes, source: str) -> XmlElement:
    """In any encoding that the file declares. Entities are refused: a few lines of them make gigabytes. Empty lines may
    stand before the declaration, as SimGrid lets them."""
    from xml.parsers import expat

    begin = re.match(rb"\s*(?=<\?xml)", data)
    before = begin[0].count(b"\n") if begin else 0
    tree = _Tree(source, before)
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda tag, attributes: tree.begin(tag, attributes, parser.CurrentLineNumber)
    parser.EndElementHandler = tree.end
    parser.EntityDeclHandler = lambda name, *_: tree.refuse(f"the entity '{name}'", parser.CurrentLineNumber)
    try:
        parser.Parse(data[begin.end() :] if begin else data, True)
    except expat.ExpatError as error:
        raise wrong_value(
            f"{source}:{before + error.lineno}: the file must be XML", expat.ErrorString(error.code)
        ) from None
    except (ValueError, LookupError) as error:  # an encoding that Python lacks, or that takes several bytes
        raise wrong_value(
            f"{source}: the file must be XML in a known encoding", str(error), "save it as UTF-8"
        ) from None
    assert tree.top is not None, "a whole text has an element"
    return tree.top


@dataclass
class _Tree:
    source: str
    lines_before: int = 0
    open: list[XmlElement] = field(default_factory=list)
    count: int = 0
    top: XmlElement | None = None

    def begin(self, tag: str, attributes: dict[str, str], line: int) -> None:
        where = f"{self.source}:{self.lines_before + line}"
        self.count += 1
        if len(self.open) == MOST_DEPTH or self.count > MOST_ELEMENTS:
            raise (
                _too_deep(where)
                if self.count <= MOST_ELEMENTS
                else wrong_value(f"{where}: the file must have at most {MOST_ELEMENTS} elements", "more")
            )
        fields = {key: Value(text, where) for key, text in attributes.items()}
        element = XmlElement(tag, Value(fields, where), fields, [])
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.top = element
        self.open.append(element)

    def end(self, _: str) -> None:
        self.open.pop()

    def refuse(self, what: str, line: int) -> None:
        where = f"{self.source}:{self.lines_before + line}"
        raise wrong_value(f"{where}: the file must be XML without entities", what, "write the value out")


def _too_deep(where: str) -> BadInput:
    return wrong_value(f"{where}: values must be nested at most {MOST_DEPTH} deep", "more")


def read_yaml(text: str, source: str, what: str) -> Value:
    """One document. Aliases are refused: a few lines of them make gigabytes. `what` the file should be, for errors."""
    import yaml

    try:
        return _yaml_tree(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), source)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{source}:{mark.line + 1}" if mark else source
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise wrong_value(f"{where}: {what}", problem) from None


@dataclass
class _Open:
    """A list or an object from `begin` on whose end is to come. `key`: of the value that comes next, at `where`."""

    content: list[Value] | dict[str, Value]
    begin: str
    key: str | None = None
    where: str = ""


def _yaml_tree(events: Iterable, source: str) -> Value:
    import yaml

    top: list[Value] = []
    outer: list[_Open] = []
    values = 0

    def add(value: Value) -> None:
        if not outer:
            top.append(value)
            return
        around = outer[-1]
        if isinstance(around.content, list):
            around.content.append(value)
        elif around.key is not None:
            around.content[around.key] = value
            around.key = None
        elif not isinstance(value.content, str):
            raise value.wrong("a key must be a text", value.kind)
        elif value.content in around.content:
            raise value.wrong("an object must have each key once", f"'{value.content}' twice")
        else:
            around.key, around.where = value.content, value.where

    for event in events:
        where = f"{source}:{event.start_mark.line + 1}"
        if outer and outer[-1].key is not None:
            where = outer[-1].where
        values += isinstance(event, (yaml.ScalarEvent, yaml.SequenceStartEvent, yaml.MappingStartEvent))
        if values > MOST_ELEMENTS:
            raise wrong_value(f"{where}: the file must have at most {MOST_ELEMENTS} values", "more")
        if isinstance(event, yaml.AliasEvent):
            raise wrong_value(f"{where}: aliases are not read", f"*{event.anchor}", "write the value out")
        if isinstance(event, yaml.ScalarEvent):
            plain_null = event.implicit[0] and event.value in ("", "~", "null", "Null", "NULL")
            add(Value("" if plain_null else event.value, where))
        elif isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            if len(outer) == MOST_DEPTH:
                raise _too_deep(where)
            outer.append(_Open([] if isinstance(event, yaml.SequenceStartEvent) else {}, where))
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            ended = outer.pop()
            add(Value(ended.content, ended.begin))
        elif isinstance(event, yaml.DocumentStartEvent) and top:
            raise wrong_value(f"{where}: the file must be one document", "another one")
    return top[0] if top else Value("", f"{source}:1")


class TooDeep(ValueError):
    """Nesting too deep of JSON and TOML, whose readers name the file and its line themselves."""


def read_json(text: str, **options: Any) -> Any:
    """`options`: those of json.loads. Raises ValueError, of which TooDeep is one."""
    depth = 0
    if text.count("[") + text.count("{") > MOST_DEPTH:
        for found in _JSON_PARTS.finditer(text):
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
            if depth > MOST_DEPTH:
                raise TooDeep(f"values are nested more than {MOST_DEPTH} deep")
    return json.loads(text, **options)


def read_toml(text: str) -> JsonObject:
    """Raises ValueError, of which TooDeep is one."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    if _DEEP_KEY.search(text):
        raise TooDeep(f"values are nested more than {MOST_DEPTH} deep")
    try:
        found = tomllib.loads(text)
    except RecursionError:
        raise TooDeep(f"values are nested more than {MOST_DEPTH} deep") from None
    level: list[object] = [found]
    for _ in range(MOST_DEPTH):
        level = [value for each in level for value in _values(each) if isinstance(value, (dict, list))]
        if not level:
            return found
    raise TooDeep(f"values are nested more than {MOST_DEPTH} deep")


def _values(value: object) -> Iterable:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
