"""A loop as a template, of which a C function is generated with an unrolling, an alignment and SIMD directives.

    Loop("double dot(const double *x, const double *y, long n)",
         before="double s = 0;", body="s += x[i] * y[i];", after="return s;", sums=("s",))

`body` is one trip with the index i, of `trips` trips from 0 on. `sums` are variables to which the body only adds: each
unrolled trip adds to one of its own, so that additions need not wait for each other.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from kumihimo.kernel import prototypes
from kumihimo.kernel.hints import TRANSFORMATIONS, KernelHints

NEUTRAL = {"unroll": 1, "align": 0, "simd": 0}
USUAL = {"unroll": 4, "align": 64, "simd": 1}  # of a transformation that is asked for and not tuned
TRIED = {"unroll": (1, 2, 3, 4, 5, 6, 8, 12, 16), "align": (0, 64), "simd": (0, 1, 4, 8)}
MEANING = {
    "unroll": "trips in one iteration",
    "align": "bytes to which the arrays are aligned in a branch of their own, 0 for no such branch",
    "simd": "0: left to the compiler, 1: omp simd, others: with this simdlen",
}


@dataclass(frozen=True)
class Loop:
    prototype: str
    body: str
    trips: str = "n"
    before: str = ""
    after: str = ""
    sums: tuple[str, ...] = ()

    def text(self) -> str:
        """All that decides what it does, for its hash."""
        return repr(asdict(self))


def parameters(hints: KernelHints) -> dict[str, tuple[int, ...]]:
    """The values that are tried: of the middle level all or the usual one, of the expert level the one that is given,
    otherwise none but the neutral one."""
    fixed = dict(hints.fixed)
    values: dict[str, tuple[int, ...]] = {}
    for name in TRANSFORMATIONS:
        if name in fixed:
            values[name] = (fixed[name],)
        elif name in hints.transformations:
            values[name] = TRIED[name] if hints.tune else (USUAL[name],)
        else:
            values[name] = (NEUTRAL[name],)
    return values


def source(loop: Loop, values: dict[str, int], *, cplusplus: bool = False, multiple: int = 1) -> str:
    """The text of the function. `multiple`: divides every number of trips; without a rest no loop handles it."""
    unroll, align, simd = (values.get(name, NEUTRAL[name]) for name in TRANSFORMATIONS)
    pointers = prototypes.parse(loop.prototype).pointers
    extra = [f"__typeof__({name}) {name}_{copy} = 0;" for copy in range(1, unroll) for name in loop.sums]
    looped = trips(loop, unroll, simd, multiple)
    if align and pointers:
        looped = aligned(pointers, align, looped)
    added = [f"{name} += {name}_{copy};" for copy in range(1, unroll) for name in loop.sums]
    headers = ("cmath", "cstddef", "cstdint") if cplusplus else ("math.h", "stddef.h", "stdint.h")
    lines = [f"#include <{name}>" for name in headers]
    lines += [*(['extern "C"'] if cplusplus else []), f"{loop.prototype.rstrip('; ')} {{", loop.before, *extra]
    lines += [f"const ptrdiff_t kumihimo_trips = {loop.trips};", *looped, *added, loop.after, "}"]
    return "\n".join(line for line in lines if line) + "\n"


def trips(loop: Loop, unroll: int, simd: int, multiple: int) -> list[str]:
    pragma = []
    if simd:
        names = [f"{name}_{copy}" if copy else name for copy in range(unroll) for name in loop.sums]
        length = f" simdlen({simd})" if simd > 1 else ""
        pragma = [f"#pragma omp simd{length}" + (f" reduction(+:{','.join(names)})" if names else "")]
    if unroll == 1:
        return [*pragma, "for (ptrdiff_t i = 0; i < kumihimo_trips; ++i) {", loop.body, "}"]
    lines = [f"const ptrdiff_t kumihimo_whole = kumihimo_trips - kumihimo_trips % {unroll};", *pragma]
    lines.append(f"for (ptrdiff_t kumihimo_i = 0; kumihimo_i < kumihimo_whole; kumihimo_i += {unroll}) {{")
    for copy in range(unroll):
        lines.append(f"{{ const ptrdiff_t i = kumihimo_i + {copy}; {with_own_sums(loop, copy)} }}")
    lines.append("}")
    if multiple % unroll:
        lines += ["for (ptrdiff_t i = kumihimo_whole; i < kumihimo_trips; ++i) {", loop.body, "}"]
    return ["{", *lines, "}"]


def with_own_sums(loop: Loop, copy: int) -> str:
    text = loop.body
    for name in loop.sums if copy else ():
        text = re.sub(rf"\b{re.escape(name)}\b", f"{name}_{copy}", text)
    return text


def aligned(pointers: list[prototypes.CParameter], align: int, looped: list[str]) -> list[str]:
    """The loop twice: where all arrays are aligned, and elsewhere."""
    bits = " | ".join(f"(uintptr_t){each.name}" for each in pointers)
    kinds = {each.name: f"{'const ' if each.is_const else ''}{each.type} *" for each in pointers}
    outer = [
        f"{kind}kumihimo_{name} = ({kind})__builtin_assume_aligned({name}, {align});" for name, kind in kinds.items()
    ]
    inner = [f"{kind}{name} = kumihimo_{name};" for name, kind in kinds.items()]
    return [f"if ((({bits}) & {align - 1}) == 0) {{", *outer, "{", *inner, *looped, "}", "} else {", *looped, "}"]
