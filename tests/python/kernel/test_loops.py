"""Generated loops compile and are right, whatever their unrolling, alignment and SIMD directives."""

from __future__ import annotations

import itertools
import shutil
from array import array
from fractions import Fraction

import pytest

from kumihimo.kernel import compiling, loops, native, prototypes
from kumihimo.kernel.loops import Loop
from kumihimo.text.errors import BadInput, Failed

DOT = Loop(
    "double dot(const double *x, const double *y, long n)",
    before="double s = 0;",
    body="s += x[i] * y[i];",
    after="return s;",
    sums=("s",),
)
AXPY = Loop("void axpy(double a, const double *x, double *y, long n)", body="y[i] = a * x[i] + y[i];")
VALUES = list(itertools.product((1, 3, 4), (0, 64), (0, 4)))

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """All forms of both loops in one file, which compiles once."""
    texts = []
    for loop, short in ((DOT, "dot"), (AXPY, "axpy")):
        for number, values in enumerate(VALUES):
            text = loops.source(loop, dict(zip(("unroll", "align", "simd"), values)))
            texts.append(text.replace(f" {short}(", f" {short}_{number}("))
    return compiling.find("c").compile("\n".join(texts), tmp_path_factory.mktemp("objects"))


@pytest.mark.parametrize("number", range(len(VALUES)), ids=map(str, VALUES))
def test_every_form_gives_the_same(library, number):
    dot = native.function_of(str(library), f"double dot_{number}(const double *x, const double *y, long n)")
    axpy = native.function_of(str(library), f"void axpy_{number}(double a, const double *x, double *y, long n)")
    for size in (*range(9), 64, 101):
        x = array("d", [(7 * i) % 11 - 5 for i in range(size)])  # whole numbers: sums have no rounding
        y = array("d", [(3 * i) % 13 - 6 for i in range(size)])
        assert dot(x, y, size) == sum(Fraction(a) * Fraction(b) for a, b in zip(x, y))
        before = list(y)
        axpy(3.0, x, y, size)
        assert list(y) == [3 * a + b for a, b in zip(x, before)]


def test_a_known_multiple_leaves_no_rest():
    with_rest = loops.source(DOT, {"unroll": 4, "align": 0, "simd": 0}, multiple=6)
    without = loops.source(DOT, {"unroll": 4, "align": 0, "simd": 0}, multiple=8)
    assert with_rest.count("for (") == 2 and without.count("for (") == 1


def test_unrolled_sums_are_independent():
    text = loops.source(DOT, {"unroll": 3, "align": 0, "simd": 1})
    assert "s_1 += x[i] * y[i]" in text and "s_2 += x[i] * y[i]" in text
    assert "reduction(+:s,s_1,s_2)" in text and "s += s_2;" in text


def test_a_prototype_is_read():
    read = prototypes.parse("unsigned long count(const int *restrict a, double b[], size_t n);")
    assert (read.result, read.name) == ("unsigned long", "count")
    assert [(p.type, p.name, p.is_pointer, p.is_const) for p in read.parameters] == [
        ("int", "a", True, True),
        ("double", "b", True, False),
        ("size_t", "n", False, False),
    ]
    assert prototypes.parse("void f(void)").parameters == ()


@pytest.mark.parametrize("text", ["", "double", "double *f(int n)", "double f(int)", "double f(n)"])
def test_a_wrong_prototype_is_one_sentence(text):
    with pytest.raises(BadInput, match="prototype"):
        prototypes.parse(text)


def test_a_source_with_an_error_says_so(tmp_path):
    with pytest.raises(Failed, match=r"the generated source does not compile: .*nonsense"):
        compiling.find("c").compile("int f() { return nonsense; }", tmp_path)


def test_without_a_compiler_one_sentence_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "none")
    with pytest.raises(BadInput, match=r"CC must name a compiler \(got 'none'\)"):
        compiling.find("c")
    monkeypatch.delenv("CC")
    with pytest.raises(Failed, match=r"there is no compiler for C \(cc, gcc, clang\); install one, or set CC"):
        compiling.find("c")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([1.0], array("d"), 0), "x must have a buffer"),
        ((array("f", [1]), array("d", [1]), 1), "x must have elements of 8 bytes"),
        ((array("d", [1]), 1), "takes 3 arguments"),
    ],
)
def test_wrong_arguments_of_a_native_function_are_named(library, arguments, said):
    dot = native.function_of(str(library), "double dot_0(const double *x, const double *y, long n)")
    with pytest.raises(TypeError, match=said):
        dot(*arguments)


def test_a_missing_library_or_function_is_one_sentence(library):
    with pytest.raises(Failed, match=r"the library libnone\.so cannot be loaded"):
        native.function_of("libnone.so", "double f(double x)")
    with pytest.raises(Failed, match="has no function g"):
        native.function_of(str(library), "double g(double x)")
    with pytest.raises(BadInput, match="types of C that are known"):
        native.function_of(str(library), "matrix dot_0(const double *x)")
