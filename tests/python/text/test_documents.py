"""Trees of XML, YAML, JSON and TOML: one limit of depth, typed values, and errors with lines."""

from __future__ import annotations

import json
import time

import pytest

from kumihimo.text import documents
from kumihimo.text.documents import MOST_DEPTH, TooDeep, read_json, read_toml, read_xml, read_yaml
from kumihimo.text.errors import BadInput

SOURCE = "f"


def yaml(text: str) -> documents.Value:
    return read_yaml(text, SOURCE, "the file must be YAML")


@pytest.mark.parametrize("depth", [MOST_DEPTH, MOST_DEPTH + 1, 100_000])
def test_one_limit_of_depth(depth):
    too_deep = depth > MOST_DEPTH
    readers = [
        (lambda: read_xml(b"<a>" * depth + b"</a>" * depth, SOURCE), BadInput),
        (lambda: yaml("[" * depth + "]" * depth), BadInput),
        (lambda: read_json("[" * depth + "]" * depth), TooDeep),
        (lambda: read_json('{"a":' * depth + "1" + "}" * depth), TooDeep),
        (lambda: read_toml("a = " + "[" * (depth - 1) + "]" * (depth - 1)), TooDeep),
        (lambda: read_toml("a" + ".a" * (depth - 1) + " = 1"), TooDeep),
    ]
    for read, refusal in readers:
        if too_deep:
            with pytest.raises(refusal, match=f"{MOST_DEPTH} deep"):
                read()
        else:
            read()


def test_brackets_in_texts_of_json_are_no_depth():
    text = json.dumps(["[{" * 100, '\\"[' * 100])
    assert read_json(text) == json.loads(text)


def test_texts_of_json_without_an_end_are_read_at_once():
    for text in ('"' + '\\"' * 50_000, '"' + '\\"' * 50_000 + "\\", '"\\' * 50_000, '"' * 100_000):
        begun = time.process_time()
        with pytest.raises(json.JSONDecodeError):
            read_json("[" + "[]," * MOST_DEPTH + text)
        assert time.process_time() - begun < 2


def test_values_of_yaml_are_limited(monkeypatch):
    monkeypatch.setattr(documents, "MOST_ELEMENTS", 5)
    assert yaml("a: 1\nb: 2\n").kind == "an object", "five: itself, two keys and two texts"
    with pytest.raises(BadInput) as caught:
        yaml("a: 1\nb:\n- 2\n")
    assert str(caught.value) == "f:3: the file must have at most 5 values (got more)"


def test_values_of_yaml_have_lines():
    value = yaml("# one\na: 1\nb:\n  - x\n  - {c: yes, d: ~}\n")
    fields = value.fields("it", ("a", "b"))
    assert (fields["a"].count("a"), fields["a"].where) == (1, "f:2")
    first, second = fields["b"].items("b")
    assert (first.text("x"), first.where, fields["b"].where) == ("x", "f:4", "f:3")
    inner = second.fields("second", ("c", "d"), ["c"])
    assert (inner["c"].flag("c"), inner["d"].text("d")) == (True, "")


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda v: v["a"].count("a", 2), "f:1: a must be a whole number from 2 on (got '1')"),
        (lambda v: v["b"].count("b"), "f:2: b must be a text (got a list)"),
        (lambda v: v["a"].items("a"), "f:1: a must be a list (got '1')"),
        (lambda v: v["a"].flag("a"), None),
        (lambda v: v["c"].flag("c"), "f:3: c must be true or false (got 'maybe')"),
        (lambda v: v["c"].fields("c", ("x", "y")), "f:3: c must be an object with the keys x, y (got 'maybe')"),
        (lambda v: v["d"].fields("d", ("axes", "y")), "f:4: d has no key 'axis'; did you mean axes?"),
        (lambda v: v["d"].fields("d", ("axis", "y"), ["y"]), "f:4: 'y' of d is missing; add it"),
    ],
)
def test_wrong_types_are_named(ask, words):
    fields = yaml("a: 1\nb: [1]\nc: maybe\nd: {axis: 1}\n").content
    if words is None:
        ask(fields)
        return
    with pytest.raises(BadInput) as caught:
        ask(fields)
    assert str(caught.value) == words


def test_elements_of_xml_have_lines():
    root = read_xml(b"<a>\n<b x='1'/>\n<c><b x='2'/></c></a>", SOURCE)
    assert [(b.get("x"), b.get("y", "none"), b.where) for b in root.iter("b")] == [
        ("1", "none", "f:2"),
        ("2", "none", "f:3"),
    ]


def test_lines_may_stand_before_the_declaration():
    assert read_xml(b"\n\n <?xml version='1.0'?>\n<a/>", SOURCE).where == "f:4"
    with pytest.raises(BadInput, match=r"f:3: the file must be XML"):
        read_xml(b"\n<?xml version='1.0'?>\n<a", SOURCE)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"<a", "f:1: the file must be XML (got unclosed token)"),
        (b"<a>\n</b>", "f:2: the file must be XML (got mismatched tag)"),
        (b"<?xml version='1.0' encoding='klingon'?><a/>", "the file must be XML"),
        (b"<?xml version='1.0' encoding='utf-7'?><a/>", "the file must be XML"),
        (b"<!DOCTYPE a [<!ENTITY x SYSTEM '/etc/passwd'>]><a>&x;</a>", "XML without entities (got the entity 'x')"),
        (b"", "f:1: the file must be XML (got no element found)"),
    ],
)
def test_what_is_no_xml_is_one_sentence(data, words):
    with pytest.raises(BadInput) as caught:
        read_xml(data, SOURCE)
    assert words in str(caught.value)


def test_what_begins_as_xml():
    for text in ("<a/>", "\n <a/>", "\ufeff<a/>"):
        for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
            assert documents.is_xml(text.encode(encoding))
    assert not documents.is_xml(b"name = '<a/>'")
