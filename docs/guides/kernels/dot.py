import math
import operator
from array import array
from random import Random

from kumihimo.kernel import Loop, kernel


def inputs(size, seed):
    numbers = Random(seed)
    return tuple(array("d", [numbers.uniform(-1, 1) for _ in range(size)]) for _ in "xy")


def magnitude(x, y):
    return math.fsum(abs(a * b) for a, b in zip(x, y))


@kernel(
    inputs=inputs,
    hint="precious, 100 to 10,000 trips, even, unroll, SIMD and tune",
    operations=lambda size: 2 * size,
    magnitude=magnitude,
    edges=("zeros", "huge", "tiny"),
)
def dot(x, y):
    s = 0.0
    for a, b in zip(x, y):
        s += a * b
    return s


@dot.variant
def mapped(x, y):
    return sum(map(operator.mul, x, y))


@dot.variant(block=[64, 512])
def blocked(x, y, block):
    parts = range(0, len(x), block)
    return sum(mapped(x[i : i + block], y[i : i + block]) for i in parts)


@dot.variant
def short(x, y):  # forgets the last element
    return mapped(x[:-1], y[:-1])


dot.loop(
    Loop(
        "double dot(const double *x, const double *y, long n)",
        before="double s = 0;",
        body="s += x[i] * y[i];",
        after="return s;",
        sums=("s",),
    ),
    call=lambda function, x, y: function(x, y, len(x)),
)

if __name__ == "__main__":
    print(dot(*inputs(1000, 0)))
