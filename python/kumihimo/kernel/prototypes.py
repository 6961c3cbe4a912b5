"""C prototypes: "double ddot(long n, const double *x, int incx)" as name, result and parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kumihimo.text.errors import wrong_value

FORM = "write one such as 'double dot(const double *x, const double *y, long n)'"
TYPE_WORDS = ("char", "short", "int", "long", "float", "double", "unsigned", "signed", "const", "void")


@dataclass(frozen=True)
class CParameter:
    type: str  # without const, one space between words: "unsigned long", "double"
    name: str
    is_pointer: bool = False
    is_const: bool = False  # of what a pointer points to


@dataclass(frozen=True)
class Prototype:
    result: str  # "void", "double"
    name: str
    parameters: tuple[CParameter, ...]
    text: str

    @property
    def pointers(self) -> list[CParameter]:
        return [each for each in self.parameters if each.is_pointer]


def parse(text: str) -> Prototype:
    plain = " ".join(re.sub(r"\b(?:__restrict__|__restrict|restrict)\b", "", text).split()).rstrip(";")
    match = re.fullmatch(r"([\w:\s]+?[\s]+)(\w+)\s*\((.*)\)", plain)
    if not match:
        raise wrong_value("a prototype must be one C function without pointer result", f"'{text}'", FORM)
    inner = match[3].strip()
    parameters = [] if inner in ("", "void") else [parameter(each, text) for each in inner.split(",")]
    return Prototype(match[1].strip(), match[2], tuple(parameters), plain)


def parameter(text: str, whole: str) -> CParameter:
    match = re.fullmatch(r"\s*([\w:\s]+?)(\s*\*\s*(?:const\s+)?|\s+)(\w+)\s*(\[\s*\])?\s*", text)
    words = match[1].split() if match else []
    bare = [word for word in words if word != "const"]
    if not match or not bare or match[3] in TYPE_WORDS:
        raise wrong_value(
            "a parameter of a prototype must have a type and a name", f"'{text.strip()}' in '{whole}'", FORM
        )
    is_pointer = bool(match[2].strip() or match[4])
    return CParameter(" ".join(bare), match[3], is_pointer, is_pointer and "const" in words)
