"""A program under `kumihimo tune kernel`: it answers requests, one JSON object a line, over two inherited pipes. The
C++ header answers the same ones (docs/adr/0036-kernels-of-users.md).

list                                      -> kernels with hashes of their variants, machine, language
source kernel variant parameters          -> text, hash
check  kernel variant parameters object size seed input -> ok | nothing | refused | skipped | unbounded | misdeclared
time   kernel variant parameters object size times -> seconds of one call | refused | misdeclared

The process may die of a request: then the tuner starts another one and refuses the variant.
"""

from __future__ import annotations

import copy
import inspect
import json
import operator
import os
import stat
import time
from collections.abc import Callable
from typing import NoReturn

from kumihimo.kernel import cases, choices, identity
from kumihimo.kernel.compare import UNIT_OF_FORMAT, Bound, Overflowed, difference, shown, view_of
from kumihimo.kernel.declaration import TUNING, Kernel
from kumihimo.kernel.guards import GuardedArrays, WroteOutside, guarding
from kumihimo.kernel.variants import LoopVariant, SourceVariant
from kumihimo.text.errors import BadInput, Failed, KumihimoError
from kumihimo.text.json_types import JsonObject

MOST_KEPT = 2**20  # trips of golden results
NOTHING = "nothing can be compared: the golden copy returns None and has no outputs; return a result or declare outputs"


class Unavailable(Failed):
    """A library, function or command that is not on this machine."""


def serve(kernels: dict[str, Kernel]) -> None:
    """Answers until the tuner closes its pipe, then ends the process: the program does not go on. Returns at once where
    there are no pipes."""
    reading, writing = map(int, os.environ.pop(TUNING).split(","))
    if not are_open(reading, writing):
        return
    for each in kernels.values():
        each.run_golden()  # also where one kernel calls another
    server = KernelServer(kernels)
    with os.fdopen(reading, encoding="utf-8") as asked, os.fdopen(writing, "w", encoding="utf-8") as answers:
        for line in asked:
            answers.write(json.dumps(server.answer(json.loads(line))) + "\n")
            answers.flush()
    os._exit(0)


def refuse(error: BadInput) -> NoReturn:
    """Answers that a value in the file is wrong, and ends the process."""
    _, writing = map(int, os.environ.pop(TUNING).split(","))
    with os.fdopen(writing, "w", encoding="utf-8") as answers:
        answers.write(json.dumps({"wrong": error.problem, "advice": error.advice}) + "\n")
    os._exit(0)


def are_open(*descriptors: int) -> bool:
    """Whether they are still the tuner's pipes: a program that ours started has its variable, but not its pipes."""
    try:
        return all(stat.S_ISFIFO(os.fstat(each).st_mode) for each in descriptors)
    except OSError:
        return False


class KernelServer:
    def __init__(self, kernels: dict[str, Kernel]) -> None:
        self.kernels = kernels
        self.golden_results: dict[tuple, tuple] = {}
        self.prepared: tuple[tuple, list] | None = None

    def answer(self, asked: JsonObject) -> JsonObject:
        if asked["do"] == "list":
            return self.listing()
        kernel = self.kernels[asked["kernel"]]
        values = asked.get("parameters", {})
        try:
            if asked["do"] == "source":
                variant = kernel.variants[asked["variant"]]
                assert isinstance(variant, SourceVariant), f"{variant.name} has no source"
                return {"text": variant.generate(**values), "hash": variant.hash(values)}
            if asked["do"] == "check":
                return self.check(kernel, asked)
            return self.time(kernel, asked)
        except Unavailable as error:
            return {"refused": str(error), "unavailable": True}
        except KumihimoError as error:
            return {"refused": str(error)}
        except Exception as error:
            return {"refused": f"raises {raised(error)}"}

    def listing(self) -> JsonObject:
        return {
            "kernels": [described(kernel) for kernel in self.kernels.values()],
            "machine": identity.this_machine(),
            "language": "python",
        }

    def function(self, kernel: Kernel, asked: JsonObject) -> Callable:
        if asked["variant"] == choices.GOLDEN:
            return kernel.golden
        try:
            return kernel.variants[asked["variant"]].bound(asked.get("parameters", {}), asked.get("object", ""))
        except Failed as error:
            raise Unavailable(str(error)) from None

    def check(self, kernel: Kernel, asked: JsonObject) -> JsonObject:
        size, seed, kind = asked["size"], asked["seed"], asked["input"]
        made = self.golden_of(kernel, size, seed, kind)
        if made[0]:
            return made[0]
        _, given, golden_result, golden_after, *_ = made
        names = names_of(kernel, len(given))
        written = [value for name, value in zip(names, golden_after) if name in kernel.outputs]
        bound, gamma = None, {}
        if kernel.operations:
            try:
                bound = Bound(kernel.operations(size), kernel.precision)
                gamma = {"gamma": bound.gamma(unit_of([golden_result, *written], bound.unit))}
            except BadInput as error:
                return {"unbounded": str(error)}
            except Exception as error:
                return {"misdeclared": f"operations({size}) raises {raised(error)}"}
        function = self.function(kernel, asked)
        arrays = GuardedArrays(shift=seed % 2 == 1)
        arguments = [arrays.moved(name, copy.deepcopy(value)) for name, value in zip(names, given)]
        try:
            with guarding():
                result = function(*arguments)
            arrays.check()
        except WroteOutside as error:
            return {"refused": str(error)}
        try:
            said = self.fault(kernel, bound, names, made, result, arguments)
        except Overflowed as error:
            return {"skipped": str(error)}
        if said:
            return {"refused": said}
        return {"nothing": NOTHING} if golden_result is None and not written else {"ok": True, **gamma}

    def fault(self, kernel: Kernel, bound: Bound | None, names: list, made: tuple, result, arguments: list) -> str:
        """Where result and arguments of a variant differ from the golden copy's."""
        _, given, golden_result, golden_after, magnitude, magnitude_after = made
        said = difference(result, golden_result, magnitude, bound)
        for name, ours, theirs, before, m in zip(names, arguments, golden_after, given, magnitude_after or given):
            if name in kernel.outputs:
                said = said or difference(ours, theirs, m, bound, name)
            elif difference(ours, before):
                said = said or f"writes to its input {name}"
        return said

    def golden_of(self, kernel: Kernel, size: int, seed: int, kind: str) -> tuple:
        """Arguments, the golden copy's result and outputs, and their magnitudes."""
        key = kernel.name, size, seed, kind
        if key not in self.golden_results:
            while self.golden_results and size + sum(each[1] for each in self.golden_results) > MOST_KEPT:
                self.golden_results.pop(next(iter(self.golden_results)))
            self.golden_results[key] = self.made(kernel, size, seed, kind)
        return self.golden_results[key]

    def made(self, kernel: Kernel, size: int, seed: int, kind: str) -> tuple:
        try:
            given = cases.arguments(kernel.known_inputs, size, seed, kind)
        except Exception as error:
            return ({"skipped": f"inputs({size}, {seed}) raises {raised(error)}"},)
        if said := fault_of_size(kernel, given, size, seed):
            return ({"misdeclared": said},)
        names = names_of(kernel, len(given))
        if seed % 2 == 1 and kind == cases.RANDOM:
            given = [cases.filled(v, seed) if name in kernel.outputs else v for name, v in zip(names, given)]
        after = copy.deepcopy(given)
        try:
            result = kernel.golden(*after)
        except Exception as error:
            return ({"skipped": f"the golden copy raises {raised(error)}"},)
        for name, before, written in zip(names, given, after):
            if name not in kernel.outputs and difference(written, before):
                said = f"the golden copy writes to {name}, which is not declared as an output; "
                return ({"misdeclared": f"{said}declare outputs=({', '.join(map(repr, (*kernel.outputs, name)))},)"},)
        magnitude, magnitude_after = None, None
        if kernel.magnitude:
            magnitude_after = copy.deepcopy(given)
            try:
                magnitude = kernel.magnitude(*magnitude_after)
            except OverflowError as error:  # as an infinite magnitude: no bound holds
                return ({"skipped": f"magnitude raises {raised(error)}"},)
            except Exception as error:
                said = f"magnitude raises {raised(error)} for the arguments of inputs({size}, {seed})"
                return ({"misdeclared": said},)
        return {}, given, result, after, magnitude, magnitude_after

    def time(self, kernel: Kernel, asked: JsonObject) -> JsonObject:
        size = asked["size"]
        key = kernel.name, size
        if self.prepared is None or self.prepared[0] != key:
            self.prepared = key, cases.arguments(kernel.known_inputs, size, 0, cases.RANDOM)
            if said := fault_of_size(kernel, self.prepared[1], size, 0):
                return {"misdeclared": said}
        given = self.prepared[1]
        function = self.function(kernel, asked)
        times = asked["times"]
        if not kernel.outputs:
            start = time.perf_counter_ns()
            for _ in range(times):
                function(*given)
            return {"seconds": (time.perf_counter_ns() - start) * 1e-9 / times}
        spent = 0
        for _ in range(times):  # each on the same input, whatever a call before it wrote
            arguments = copy.deepcopy(given)
            start = time.perf_counter_ns()
            function(*arguments)
            spent += time.perf_counter_ns() - start
        return {"seconds": spent * 1e-9 / times}


def described(kernel: Kernel) -> JsonObject:
    variants = []
    for each in kernel.variants.values():
        row = {"name": each.name, "kind": each.kind, "parameters": {n: list(v) for n, v in each.parameters.items()}}
        row["hash"] = each.listed_hash()
        if isinstance(each, LoopVariant):
            row["loop"] = {**vars(each.loop), "sums": list(each.loop.sums)}
        variants.append(row)
    return {
        "name": kernel.name,
        "compiler": identity.interpreter(),
        "golden": kernel.golden_hash(),
        "hint": kernel.hint,
        "sizes": list(kernel.sizes),
        "edges": list(kernel.edges),
        "bound": kernel.operations is not None,
        "unit": kernel.precision,
        "inputs": kernel.inputs is not None,
        "variants": variants,
    }


def fault_of_size(kernel: Kernel, given: list, size: int, seed: int) -> str:
    """Why `size` is wrong for arguments of that many trips: calls would run choices for other sizes."""
    made = f"the arguments of inputs({size}, {seed})"
    try:
        found = operator.index(kernel.size(*given))
    except Exception as error:
        return f"size raises {raised(error)} for {made}; declare size=, a function of them that gives {size}"
    return "" if found == size else f"size gives {found} for {made}; correct size= or inputs="


def unit_of(results: list, otherwise: float) -> float:
    """The largest unit roundoff of the results."""
    views = [view for view in map(view_of, results) if view is not None]
    return max((UNIT_OF_FORMAT.get(view.format, 0.0) for view in views), default=0.0) or otherwise


def names_of(kernel: Kernel, count: int) -> list[str]:
    try:
        names = list(inspect.signature(kernel.golden).parameters)
    except (TypeError, ValueError):
        names = []
    return (names + [f"argument {place + 1}" for place in range(len(names), count)])[:count]


def raised(error: Exception) -> str:
    return f"{type(error).__name__}: {shown(str(error)) if str(error) else 'without a message'}"
