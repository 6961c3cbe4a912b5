"""The decorator by which a program declares a kernel, and what runs in its place."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Any

from kumihimo.kernel import choices, hints, identity, loops
from kumihimo.kernel.variants import (
    CommandVariant,
    KernelVariant,
    LibraryVariant,
    LoopVariant,
    PythonVariant,
    SourceVariant,
)
from kumihimo.text.errors import KumihimoError, missing, wrong_value
from kumihimo.text.json_types import JsonObject

TUNING = "KUMIHIMO_KERNEL_TUNING"  # descriptors of two pipes: the program is under `kumihimo tune kernel`
EDGES = ("zeros", "huge", "tiny")
PRECISIONS = {"float64": 2.0**-53, "float32": 2.0**-24}
declared: dict[str, Kernel] = {}
serve: Callable[[dict[str, Kernel]], None] | None = None  # serving.py's, in a program under `kumihimo tune kernel`


def kernel(golden: Callable | None = None, **options: Any) -> Kernel | Callable[[Callable], Kernel]:
    """A decorator: @kernel, or @kernel(...) with the options of Kernel."""
    if golden is not None:
        return Kernel(golden, **options)
    return lambda function: Kernel(function, **options)


class Kernel:
    """Called like the golden copy. Runs what wisdom chose for the size of the call, or the golden copy.

    size        function of the arguments: the number of trips [default: the length of the first argument]
    inputs      inputs(size, seed) makes a tuple of arguments; equal seeds make equal ones. Only tuning needs it.
    hint        see hints.py
    sizes       that are tuned [default: over the range of trips, else 64 to 262144]
    outputs     names of the arguments that the kernel writes; it must not change others
    operations  operations(size): number of floating-point operations behind one element of the result. With it results
                may differ by twice gamma_n M, gamma_n = n u / (1 - n u); without it every bit must be the same
    magnitude   function with the golden copy's arguments: it gives M, the result of the golden copy with absolute
                values, as sum |x_i y_i| for a dot product
    edges       inputs that are tried besides: zeros, huge and tiny values [default: zeros]
    precision   of results that are Python floats: float64 or float32; arrays know their own
    """

    def __init__(
        self,
        golden: Callable,
        *,
        name: str = "",
        size: Callable[..., int] | None = None,
        inputs: Callable[[int, int], tuple] | None = None,
        hint: str = "",
        sizes: Sequence[int] = (),
        outputs: Sequence[str] = (),
        operations: Callable[[int], int] | None = None,
        magnitude: Callable | None = None,
        edges: Sequence[str] = ("zeros",),
        precision: str = "float64",
    ) -> None:
        self.golden = golden
        self.name = name or golden.__name__
        check_name("a kernel", self.name)
        for edge in edges:
            if edge not in EDGES:
                raise wrong_value(f"an edge input must be one of {', '.join(EDGES)}", f"'{edge}'")
        if precision not in PRECISIONS:
            raise wrong_value(f"precision must be {' or '.join(PRECISIONS)}", f"'{precision}'")
        if (operations is None) != (magnitude is None):
            raise wrong_value("an error bound needs both operations and magnitude", f"one of them for {self.name}")
        self.size: Callable[..., int] = size or first_length
        self.inputs, self.hints, self.sizes = inputs, hints.parse(hint), tuple(sizes)
        self.hint = hint
        self.outputs, self.edges, self.precision = tuple(outputs), tuple(edges), PRECISIONS[precision]
        self.operations, self.magnitude = operations, magnitude
        self.variants: dict[str, KernelVariant] = {}
        self._plan: list[tuple[JsonObject, Callable]] | None = None
        functools.update_wrapper(self, golden)
        if TUNING in os.environ:
            identity.remember(golden)
        declared[self.name] = self

    def __call__(self, *arguments: object, **named: object) -> object:
        if self._plan is None:
            self._plan = self._read_plan()
        if self._plan and not named:
            size = self.size(*arguments)
            for choice, run in self._plan:
                if choices.is_for(choice, size):
                    return run(*arguments)
        return self.golden(*arguments, **named)

    @property
    def known_inputs(self) -> Callable[[int, int], tuple]:
        if self.inputs is None:
            raise missing(f"the inputs of the kernel {self.name}", "declare inputs=")
        return self.inputs

    def variant(self, function: Callable | None = None, *, name: str = "", **parameters: Iterable) -> Callable:
        """A function with the golden copy's arguments, and one named argument for each parameter: a decorator
        @dot.variant or @dot.variant(block=[64, 256]), or for any callable dot.variant(numpy.dot, name="numpy")."""
        if function is None:
            return lambda later: self.variant(later, name=name, **parameters)
        called = name or getattr(function, "__name__", "")
        self._add(PythonVariant(called, values_of(parameters), function))
        return function

    def library(self, library: str, prototype: str, *, name: str = "", call: Callable | None = None) -> None:
        """A function of a shared library, by its C prototype. `call(function, *arguments)` calls it where its
        arguments are not those of the golden copy."""
        from kumihimo.kernel.prototypes import parse

        self._add(LibraryVariant(name or parse(prototype).name, {}, library, prototype, call))

    def command(
        self,
        name: str,
        words: Sequence[str],
        *,
        encode: Callable | None = None,
        decode: Callable | None = None,
        **parameters: Iterable,
    ) -> None:
        """An external command (variants.py has the form in which it reads and writes)."""
        if not words:
            raise wrong_value("a command needs at least one word", f"none for {name}")
        self._add(CommandVariant(name, values_of(parameters), tuple(map(str, words)), encode, decode))

    def source(
        self, name: str, generate: Callable, prototype: str, *, call: Callable | None = None, **parameters: Iterable
    ) -> None:
        """C text from generate(**parameters), compiled by the system's compiler when it is tuned."""
        self._add(SourceVariant(name, values_of(parameters), generate, prototype, call))

    def loop(self, loop: loops.Loop, *, name: str = "loop", call: Callable | None = None) -> None:
        """A loop that is generated as the hint says: unrolled, aligned, with SIMD directives."""
        self._add(LoopVariant(name, loops.parameters(self.hints), loop, call))

    def _add(self, variant: KernelVariant) -> None:
        check_name("a variant", variant.name)
        if variant.name == choices.GOLDEN or variant.name in self.variants:
            raise wrong_value("a variant needs a name of its own", f"'{variant.name}' of {self.name}", "give name=")
        for name, value in self.hints.fixed:  # the expert's word
            if name in variant.parameters:
                variant.parameters[name] = (value,)
        self.variants[variant.name] = variant
        self._plan = None
        if TUNING in os.environ and isinstance(variant, PythonVariant):
            identity.remember(variant.function)

    def run_golden(self) -> None:
        """From now on calls run the golden copy, whatever wisdom says."""
        self._plan = []

    def golden_hash(self) -> str:
        """Hash of golden copy and error bound: a narrower bound may refuse a variant that a wider one accepted."""
        parts = [identity.source_of(each) for each in (self.golden, self.operations, self.magnitude) if each]
        return identity.hash_of_text("\n".join([*parts, str(self.precision)]))

    def _read_plan(self) -> list[tuple[JsonObject, Callable]]:
        if serve and TUNING in os.environ:
            serve(declared)
        found = choices.read(self.name)
        if not found:
            return []
        plan = []
        for choice in choices.fitting(found, self.golden_hash(), identity.interpreter(), "python"):
            run = self._chosen(choice)
            if run:
                plan.append((choice, run))
        return plan

    def _chosen(self, choice: JsonObject) -> Callable | None:
        """None where the variant is gone, was edited, or cannot be loaded: then the golden copy runs."""
        variant = self.variants.get(choice.get("variant", ""))
        try:
            values = dict(choice.get("parameters", {}))
            if variant is None or not variant.has(values) or variant.hash(values) != choice.get("source"):
                return None
            path = choices.objects() / choice["object"] if variant.compiled else None
            if path and not path.is_file():
                return None
            return variant.bound(values, str(path or ""))
        except (KumihimoError, OSError, ValueError, TypeError, KeyError, AttributeError):
            return None


def first_length(first: Sized, *others: object) -> int:
    return len(first)


def check_name(what: str, name: str) -> None:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]{0,60}", name):
        raise wrong_value(f"the name of {what} must have letters, digits, _ . and -", f"'{name}'", "give name=")


def values_of(parameters: dict[str, Iterable]) -> dict[str, tuple]:
    found = {}
    for name, values in parameters.items():
        found[name] = tuple(dict.fromkeys([values] if isinstance(values, (int, float, str)) else values))
        if not found[name] or not all(isinstance(value, (int, float, str)) for value in found[name]):
            raise wrong_value(f"the parameter {name} must have at least one number or text", f"{list(found[name])}")
    return found
