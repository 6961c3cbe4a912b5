"""Hashes by which wisdom knows a golden copy and its variants, and the machine."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import platform
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

from kumihimo.text.json_types import JsonObject

PLAIN = (int, float, complex, str, bytes, tuple)
texts: dict[str, str] = {}  # of files as they were when a program under tuning imported them


def remember(function: Callable) -> None:
    """Keeps the text of the function's file: it may be edited while the program is tuned."""
    import inspect

    with contextlib.suppress(AttributeError, OSError, TypeError, ValueError):
        inner = inspect.unwrap(function)
        if inner.__code__.co_filename not in texts:
            texts[inner.__code__.co_filename] = "".join(inspect.findsource(inner)[0])


def hash_of_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def hash_of_function(function: Callable) -> str:
    """Hash of the source without comments, layout and the decorators of kernels; of the compiled code where there is no
    source. Arguments bound by functools.partial, and functions and plain values of its own file, are part of it; other
    things that it uses are not.
    """
    return hash_of_text(source_of(function))


def source_of(function: Callable, seen: list | None = None) -> str:
    """`seen`: functions whose source stands before; two may use each other."""
    import ast
    import inspect

    seen = [] if seen is None else seen
    if isinstance(function, functools.partial):
        bound = [of_value(each) for each in function.args]
        bound += [f"{name}={of_value(value)}" for name, value in sorted(function.keywords.items())]
        return f"{source_of(function.func, seen)}\n{', '.join(bound)}"
    inner = inspect.unwrap(function)
    code = getattr(inner, "__code__", None)
    if code is None and hasattr(getattr(type(inner), "__call__", None), "__code__"):  # noqa: B004
        state = sorted((name, of_value(value)) for name, value in getattr(inner, "__dict__", {}).items())
        return f"{source_of(type(inner).__call__)}\n{state}"
    if code is None:  # native
        owner = getattr(inner, "__module__", None) or type(inner).__module__
        return f"{owner}.{getattr(inner, '__qualname__', type(inner).__qualname__)} {version_of(owner)}"
    try:
        text = texts.get(code.co_filename) or "".join(inspect.findsource(inner)[0])
        (node,) = definitions(text).get((code.co_name, code.co_firstlineno), [])
    except (OSError, TypeError, SyntaxError, ValueError, RecursionError, IndexError):
        return of_code(code) + of_used(inner, seen)  # no source, or several lambdas in a line
    if hasattr(node, "decorator_list"):
        node.decorator_list = [each for each in node.decorator_list if not is_of_kernels(each)]
    return ast.unparse(node) + of_used(inner, seen)


def of_used(function: Callable, seen: list) -> str:
    """Plain values and functions that a nested function keeps, and those of the file that it names."""
    text = ""
    seen.append(function)
    for name, value in [*of_closure(function), *of_file(function)]:
        if isinstance(value, PLAIN):
            text += f"\n{name} = {of_value(value)}"
        elif callable(value) and hasattr(value, "__code__") and value not in seen:
            text += f"\n{name} = {source_of(value, seen)}"
    return text


def of_closure(function: Callable) -> Iterator[tuple[str, object]]:
    for name, cell in zip(function.__code__.co_freevars, getattr(function, "__closure__", None) or ()):
        with contextlib.suppress(ValueError):  # not assigned yet
            yield name, cell.cell_contents


def of_file(function: Callable) -> Iterator[tuple[str, object]]:
    """Plain values and functions among the globals that the function names; a kernel as its golden copy."""
    import inspect

    known = getattr(function, "__globals__", {})
    for name in sorted(names_in(function.__code__)):
        value = known.get(name)
        if callable(value) and not isinstance(value, type):
            with contextlib.suppress(ValueError):  # a cycle
                value = inspect.unwrap(value)
            if getattr(getattr(value, "__code__", None), "co_filename", "") == function.__code__.co_filename:
                yield name, value
        elif isinstance(value, PLAIN) and not name.startswith("__"):
            yield name, value


def names_in(code: CodeType) -> set[str]:
    inner = [names_in(each) for each in code.co_consts if isinstance(each, CodeType)]
    return {*code.co_names}.union(*inner)


def of_value(value: Any) -> str:
    """Identity of a bound argument or a field: its bytes or its text, without addresses of this process."""
    if callable(value) and not isinstance(value, type):
        return source_of(value)
    try:
        view = memoryview(value)
        return f"{view.format} {view.shape} {view.tobytes().hex()}"
    except (TypeError, ValueError):
        return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def is_of_kernels(decorator: object) -> bool:
    """Whether it declares a kernel or a variant: @kernel, @kd.kernel(...), @dot.variant or @dot.variant(...)."""
    import ast

    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name == "kernel" or (name == "variant" and isinstance(called, ast.Attribute))


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


def of_code(code: CodeType) -> str:
    return f"{code.co_code.hex()} {code.co_names} {[of_constant(each) for each in code.co_consts]}"


def of_constant(value: object) -> str:
    if isinstance(value, CodeType):
        return of_code(value)
    return repr(sorted(map(repr, value)) if isinstance(value, frozenset) else value)


def stamp_of(path: str) -> str:
    """Changes with the file; empty where there is none."""
    with contextlib.suppress(OSError, ValueError):  # any word of a command
        if path and Path(path).is_file():
            found = Path(path).stat()
            return f"{found.st_size} {found.st_mtime_ns}"
    return ""


def version_of(module: str) -> str:
    import sys

    return str(getattr(sys.modules.get(module.partition(".")[0]), "__version__", ""))


@functools.cache
def this_machine() -> JsonObject:
    """Processor, number of processors and instruction sets, by the rules of kumihimo/kernel/machine.hpp."""
    from kumihimo import _base  # asked for only where there is wisdom: other programs load no native module

    return _base.this_machine()


def interpreter() -> str:
    """The interpreter that compiles Python functions."""
    return f"{platform.python_implementation()} {platform.python_version()}"
