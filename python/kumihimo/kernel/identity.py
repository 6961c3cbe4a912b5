"""Hashes by which wisdom knows a golden copy and its variants, and the machine: cheap, without native modules."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
from collections.abc import Callable
from pathlib import Path

FIRST_PROCESSOR_BYTES = 4096  # of /proc/cpuinfo, as src/problem/fingerprint.cpp reads


def hash_of_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def hash_of_function(function: Callable) -> str:
    """Of the source without decorators, comments and layout; of the compiled code where there is no source. What the
    function calls is not part of it."""
    return hash_of_text(source_of(function))


def source_of(function: Callable) -> str:
    import ast
    import inspect

    inner = inspect.unwrap(getattr(function, "func", function))
    code = getattr(inner, "__code__", None)
    if code is None:  # native
        owner = getattr(inner, "__module__", None) or type(inner).__module__
        return f"{owner}.{getattr(inner, '__qualname__', type(inner).__qualname__)} {version_of(owner)}"
    try:
        lines, _ = inspect.findsource(inner)
        (node,) = definitions("".join(lines)).get((code.co_name, code.co_firstlineno), ())
    except (OSError, TypeError, SyntaxError, ValueError, RecursionError, IndexError):
        return of_code(code)  # no source, or several lambdas in a line
    if hasattr(node, "decorator_list"):
        node.decorator_list = []
    return ast.unparse(node)


@functools.lru_cache(maxsize=4)
def definitions(text: str) -> dict[tuple[str, int], list]:
    """Functions and lambdas of a file by name and first line, as compiled code has them: a decorator's line, if any."""
    import ast

    found: dict[tuple[str, int], list] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found.setdefault((node.name, first), []).append(node)
        elif isinstance(node, ast.Lambda):
            found.setdefault(("<lambda>", node.lineno), []).append(node)
    return found


def of_code(code: object) -> str:
    return f"{code.co_code.hex()} {code.co_names} {[of_constant(each) for each in code.co_consts]}"


def of_constant(value: object) -> str:
    if hasattr(value, "co_code"):
        return of_code(value)
    return repr(sorted(map(repr, value)) if isinstance(value, frozenset) else value)


def version_of(module: str) -> str:
    import sys

    return str(getattr(sys.modules.get(module.partition(".")[0]), "__version__", ""))


@functools.cache
def this_machine() -> dict:
    return {"processor": processor(), "processors": os.sysconf("SC_NPROCESSORS_ONLN")}


def processor(path: Path = Path("/proc/cpuinfo")) -> str:
    """The model as the system says it, by the rules of src/problem/fingerprint.cpp."""
    try:
        with path.open("rb") as file:
            text = file.read(FIRST_PROCESSOR_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    values: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            values.setdefault(name.strip(), value.strip())
    for name in ("model name", "cpu model", "cpu"):
        if values.get(name):
            return values[name]
    implementer, part = values.get("CPU implementer", ""), values.get("CPU part", "")
    if not implementer and not part:
        return ""
    return f"Arm implementer {implementer}, part {part}, variant {values.get('CPU variant', '')}"


def interpreter() -> str:
    """What compiles Python functions."""
    return f"{platform.python_implementation()} {platform.python_version()}"
