"""Variants of a kernel: a Python function, a function of another library, an external command, a generated source.
`bound(values, object)` is what runs: a function with the golden copy's arguments."""

from __future__ import annotations

import functools
import json
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kumihimo.kernel import identity, native
from kumihimo.kernel.loops import Loop
from kumihimo.processes import child_output
from kumihimo.text.errors import failed

Values = Mapping[str, object]


@dataclass
class KernelVariant(ABC):
    name: str
    parameters: dict[str, tuple]  # values that are tried, the default first
    kind = "function"
    compiled = False  # from a source that the tuner compiles

    def has(self, values: Values) -> bool:
        """Whether its parameters have these values."""
        given = self.parameters
        return values.keys() == given.keys() and all(value in given[name] for name, value in values.items())

    @abstractmethod
    def hash(self, values: Values) -> str: ...

    def listed_hash(self) -> str:
        """Whatever the values are: an edited variant has another one."""
        return self.hash({})

    @abstractmethod
    def bound(self, values: Values, object_path: str) -> Callable: ...


@dataclass
class PythonVariant(KernelVariant):
    function: Callable

    def hash(self, values: Values) -> str:
        return identity.hash_of_function(self.function)

    def bound(self, values: Values, object_path: str) -> Callable:
        return functools.partial(self.function, **values) if values else self.function


def adapted(function: Callable, call: Callable | None, values: Values) -> Callable:
    """`call(function, *arguments, **values)` says how a native function gets the golden copy's arguments."""
    return functools.partial(call, function, **values) if call else function


@dataclass
class LibraryVariant(KernelVariant):
    library: str = ""
    prototype: str = ""
    call: Callable | None = None
    kind = "library"

    def hash(self, values: Values) -> str:
        how = identity.source_of(self.call) if self.call else ""
        stamp = identity.stamp_of(self.library) if "/" in self.library else ""  # otherwise the linker searches for it
        return identity.hash_of_text(f"{self.library} {stamp}\n{self.prototype}\n{how}")

    def bound(self, values: Values, object_path: str) -> Callable:
        return adapted(native.function_of(self.library, self.prototype), self.call, values)


@dataclass
class SourceVariant(KernelVariant):
    """`generate(**values)` gives C text with the function of the prototype."""

    generate: Callable
    prototype: str
    call: Callable | None = None
    kind = "source"
    compiled = True

    def hash(self, values: Values) -> str:
        how = identity.source_of(self.call) if self.call else ""
        return identity.hash_of_text(f"{self.generate(**values)}\n{self.prototype}\n{how}")

    def listed_hash(self) -> str:
        return identity.hash_of_function(self.generate)

    def bound(self, values: Values, object_path: str) -> Callable:
        return adapted(native.function_of(object_path, self.prototype), self.call, {})


@dataclass
class LoopVariant(KernelVariant):
    loop: Loop
    call: Callable | None = None
    kind = "loop"
    compiled = True

    def hash(self, values: Values) -> str:
        return identity.hash_of_text(self.loop.text() + (identity.source_of(self.call) if self.call else ""))

    def bound(self, values: Values, object_path: str) -> Callable:
        return adapted(native.function_of(object_path, self.loop.prototype), self.call, {})


@dataclass
class CommandVariant(KernelVariant):
    """An external command. Without `encode` and `decode` it reads one JSON object, {"arguments": [...], "parameters":
    {...}}, and writes {"result": ..., "arguments": {"0": [...]}}: the arguments by place that it changed. It reads
    standard input and writes standard output, or the files whose paths replace {input} and {output} in its words."""

    words: Sequence[str] = ()
    encode: Callable | None = None
    decode: Callable | None = None
    kind = "command"

    def hash(self, values: Values) -> str:
        how = "".join(identity.source_of(each) for each in (self.encode, self.decode) if each)
        stamps = [identity.stamp_of(each) for each in (shutil.which(self.words[0]) or "", *self.words[1:])]
        return identity.hash_of_text(f"{list(self.words)}\n{stamps}\n{how}")

    def bound(self, values: Values, object_path: str) -> Callable:
        if not shutil.which(self.words[0]):
            raise failed(f"the command {self.words[0]} is not there")
        return functools.partial(self.run, values)

    def run(self, values: Values, *arguments: object) -> object:
        if self.encode:
            given = self.encode(*arguments, **values)
        else:
            plain = [as_json(each) for each in arguments]
            given = json.dumps({"arguments": plain, "parameters": dict(values)}) + "\n"
        answer = self.output_of(given.encode() if isinstance(given, str) else given)
        if self.decode:
            return self.decode(answer, *arguments)
        try:
            found = json.loads(answer)
            for place, changed in found.get("arguments", {}).items():
                take(arguments[int(place)], changed)
            return found.get("result")
        except (ValueError, KeyError, IndexError, AttributeError, TypeError) as error:
            what = f"the command {self.words[0]} wrote no answer in the form of docs/guides/tune-your-kernel.md"
            raise failed(what, str(error)) from None

    def output_of(self, given: bytes) -> str:
        by_files = any("{input}" in word or "{output}" in word for word in self.words)
        with tempfile.TemporaryDirectory() if by_files else _NoFolder() as folder:
            paths = {name: str(Path(folder, name)) for name in ("input", "output")} if by_files else {}
            words = list(self.words)
            for name, path in paths.items():
                words = [word.replace(f"{{{name}}}", path) for word in words]
            reads_file = any("{input}" in word for word in self.words)
            if reads_file:
                Path(paths["input"]).write_bytes(given)
            done = child_output.run(words, given=b"" if reads_file else given)
            if done.returncode:
                said = done.stderr.strip().splitlines()
                raise failed(f"the command {self.words[0]} ended with {done.returncode}", said[-1] if said else "")
            writes_file = any("{output}" in word for word in self.words)
            return Path(paths["output"]).read_bytes().decode() if writes_file else done.stdout


class _NoFolder:
    def __enter__(self) -> str:
        return ""

    def __exit__(self, *of_error: object) -> None:
        pass


def as_json(value: object) -> object:
    """Arrays as lists: numbers keep all their bits."""
    to_list = getattr(value, "tolist", None)
    if to_list:
        return to_list()
    if isinstance(value, (bytes, bytearray)):
        return list(value)
    return value


def take(array: Any, values: list) -> None:
    """Writes what a command returned into the program's array."""
    if len(array) != len(values):
        raise ValueError(f"{len(values)} elements for an array of {len(array)}")
    for place, value in enumerate(values):
        array[place] = value
