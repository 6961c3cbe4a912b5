"""Each kind of variant: what it runs, and what is said of one that cannot run."""

from __future__ import annotations

import json
import math
import shutil
import sys
import time
from array import array
from pathlib import Path

import pytest
from kernel_sessions import InProcess, decision_of, refused_of

from kumihimo.kernel import compiling, declaration, identity, kernel
from kumihimo.kernel.loops import Loop
from kumihimo.text.errors import BadInput, Failed

DOUBLES = lambda size, seed: (array("d", [(i * 7 + seed) % 5 for i in range(size)]),)  # noqa: E731
SUMS = "import json, sys; given = json.load(sys.stdin); print(json.dumps({'result': sum(given['arguments'][0])}))"


@pytest.fixture
def roots():
    @kernel(inputs=DOUBLES, sizes=(8,), outputs=("x",))
    def roots(x):
        for i, value in enumerate(x):
            x[i] = math.sqrt(value)

    return roots


@pytest.fixture
def total():
    @kernel(inputs=DOUBLES, sizes=(8,))
    def total(x):
        return math.fsum(x)

    return total


def favour(name: str):
    return lambda variant, parameters, size: 1e-6 if variant == name else 2e-6


def test_a_function_of_a_library(roots, tuned):
    def each(sqrt, x):
        for i, value in enumerate(x):
            x[i] = sqrt(value)

    roots.library("m", "double sqrt(double x)", call=each)
    assert decision_of(tuned(favour("sqrt")), 8)["chosen"]["variant"] == "sqrt"
    x = array("d", [4, 9])
    roots(x)
    assert list(x) == [2, 3]


def test_a_library_that_is_not_there_is_not_wrong(total, tuned):
    total.library("libnone.so", "double f(const double *x)")
    found = tuned(favour("f"))
    (row,) = [row for row in found.decisions[0]["tried"] if row["variant"] == "f"]
    assert row["unavailable"] and "libnone.so cannot be loaded" in row["refused"]


def test_a_command_by_its_streams(total, tuned):
    total.command("external", [sys.executable, "-c", SUMS])
    assert decision_of(tuned(favour("external")), 8)["chosen"]["variant"] == "external"
    declaration.declared["total"]._plan = None
    assert total(array("d", range(8))) == 28


def test_a_command_by_files_with_forms_of_its_own(total, tuned):
    script = "import sys; print(sum(map(float, open(sys.argv[1]))), file=open(sys.argv[2], 'w'))"
    total.command(
        "external",
        [sys.executable, "-c", script, "{input}", "{output}"],
        encode=lambda x: "".join(f"{value!r}\n" for value in x),
        decode=lambda answer, x: float(answer),
    )
    assert not refused_of(tuned(favour("external")))


def test_a_command_changes_arrays(roots, tuned):
    script = "import json, sys, math; x = json.load(sys.stdin)['arguments'][0]; "
    script += "print(json.dumps({'arguments': {'0': [math.sqrt(v) for v in x]}}))"
    roots.command("external", [sys.executable, "-c", script])
    assert not refused_of(tuned(favour("external")))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([sys.executable, "-c", "raise SystemExit('no luck')"], "ended with 1: no luck"),
        ([sys.executable, "-c", "print('hello')"], "wrote no answer in the form of"),
        (["no-such-command"], "the command no-such-command is not there"),
    ],
)
def test_a_command_that_fails_says_how(total, tuned, words, said):
    total.command("external", words)
    assert said in refused_of(tuned(favour("external")))["external"]


def test_only_a_command_that_is_not_there_is_not_available(total, tuned):
    total.command("fails", [sys.executable, "-c", "raise SystemExit('no luck')"])
    total.command("gone", ["no-such-command"])
    rows = {row["variant"]: row for row in tuned(favour("golden")).decisions[0]["tried"]}
    assert rows["gone"]["unavailable"] and "unavailable" not in rows["fails"]
    assert rows["fails"]["refused"].startswith("size 1, seed 0, random input: the command ")


def test_files_of_a_command_or_library_are_part_of_its_hash(total, tmp_path):
    tool, library = tmp_path / "tool.py", tmp_path / "lib.so"
    total.command("tool", [sys.executable, str(tool), "--fast"])
    total.library(str(library), "double f(const double *x)")
    seen = set()
    for text in ("", "1", "22"):
        tool.write_text(text)
        library.write_text(text)
        seen |= {total.variants[name].hash({}) for name in ("tool", "f")}
    assert len(seen) == 6


needs_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
PROTOTYPE = "double total(const double *x, long n)"
CALL = lambda function, x: function(x, len(x))  # noqa: E731


def text(step: int) -> str:
    return f"{PROTOTYPE} {{ double s = 0; for (long i = 0; i < n; i += {step}) s += x[i]; return s; }}"


@needs_compiler
def test_a_generated_source_is_compiled_and_kept(total, tuned):
    total.source("text", text, PROTOTYPE, call=CALL, step=[1, 2])
    found = tuned(favour("text"))
    assert decision_of(found, 8)["chosen"] == {"variant": "text", "parameters": {"step": 1}}
    assert "result is" in refused_of(found)["text"]  # with step 2
    (row,) = found.choices
    object_path = declaration.choices.objects() / row["object"]
    assert object_path.is_file() and row["builder"].endswith("-std=gnu11")
    total._plan = None
    assert total(array("d", range(1, 9))) == 36
    assert total._plan[0][0]["variant"] == "text"
    object_path.unlink()
    total._plan = None
    assert total(array("d", range(1, 9))) == 36
    assert total._plan == []  # the golden copy


@needs_compiler
def test_an_edited_generator_is_not_taken(total, tuned):
    total.source("text", text, PROTOTYPE, call=CALL, step=[1])
    tuned(favour("text"))
    total.variants["text"].generate = lambda step: text(step) + "// edited"
    total._plan = None
    assert total(array("d", [1])) == 1 and total._plan == []


@needs_compiler
def test_a_loop_is_tuned_as_the_hint_says(tuned):
    @kernel(inputs=DOUBLES, hint="8 to 64 trips, even, unroll by 5, SIMD and tune")
    def total(x):
        return math.fsum(x)

    loop = Loop(PROTOTYPE, before="double s = 0;", body="s += x[i];", after="return s;", sums=("s",))
    total.loop(loop, call=CALL)
    wanted = {"unroll": 5, "align": 0, "simd": 4}
    found = tuned(lambda variant, parameters, size: 1e-6 if parameters == wanted else 2e-6)
    assert decision_of(found, 8)["chosen"] == {"variant": "loop", "parameters": wanted}
    assert found.decisions[0]["candidates"] == 4
    assert not refused_of(found)
    (row,) = found.choices
    assert (row["from_size"], row["to_size"], row["multiple"]) == (8, 64, 2)


@needs_compiler
def test_what_writes_outside_or_to_its_input_is_refused(total, tuned):
    body = "{ double s = 0; for (long i = 0; i < n; ++i) s += x[i]; %s return s; }"
    prototype = "double total(%sdouble *x, long n)"
    for name, const, extra in (
        ("behind", "", "x[n] = 1;"),
        ("before", "", "x[-2] = 1;"),
        ("const_input", "const ", "((double*)x)[0] += 1;"),
        ("its_input", "", "x[0] += 1;"),
    ):
        form = prototype % const
        code = f"{form} {body % extra}"
        total.source(name, lambda code=code: code, form, call=CALL)
    refused = refused_of(tuned(favour("golden")))
    assert "writes outside its output: byte 1 behind x" in refused["behind"]
    assert "writes outside its output: byte 9 before x" in refused["before"]
    assert "writes to its input x" in refused["const_input"]
    assert "writes to its input x" in refused["its_input"]


def test_without_a_compiler_generated_sources_are_left_out(total, tuned, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    total.source("text", text, PROTOTYPE, call=CALL, step=[1])
    total.variant(lambda x: math.fsum(x), name="other")
    found = tuned(favour("other"))
    assert "there is no compiler for C" in refused_of(found)["text"]
    assert decision_of(found, 8)["chosen"]["variant"] == "other"


def test_numpy_is_a_variant_like_others(tuned):
    numpy = pytest.importorskip("numpy")

    @kernel(
        inputs=lambda size, seed: tuple(numpy.random.default_rng(seed).uniform(-1, 1, (2, size))),
        sizes=(100,),
        operations=lambda size: 2 * size,
        magnitude=lambda x, y: float(numpy.abs(x * y).sum()),
    )
    def dot(x, y):
        s = 0.0
        for a, b in zip(x, y):
            s += a * b
        return s

    dot.variant(numpy.dot, name="numpy")

    @dot.variant
    def outside(x, y):
        memory = numpy.lib.stride_tricks.as_strided(y, shape=(len(y) + 1,))
        memory[len(y)] = 0
        return numpy.dot(x, y)

    found = tuned(favour("numpy"))
    assert decision_of(found, 100)["chosen"]["variant"] == "numpy"
    assert "writes outside its output: byte 1 behind y" in refused_of(found)["outside"]
    assert found.choices[0]["check"].startswith("within 2 gamma_n M, gamma_n = 2.22e-14")


def test_values_survive_json_exactly():
    from kumihimo.kernel.variants import as_json

    values = array("d", [0.1, 1e-310, 1 / 3])
    assert json.loads(json.dumps(as_json(values))) == list(values)
    assert as_json(b"\x01\x02") == [1, 2]


def test_a_golden_copy_that_fails_leaves_its_kernel_untuned(tuned):
    @kernel(inputs=DOUBLES, sizes=(8,))
    def broken(x):
        raise RuntimeError("not yet")

    broken.variant(math.fsum, name="fsum")
    session = InProcess(favour("fsum"))
    session.ask = lambda request, seconds: session.server.answer(request)  # with real times
    found = tuned(None, session=session)
    (left,) = found.left
    assert left["reason"] == "the golden copy of broken fails at size 8: raises RuntimeError: 'not yet'"
    assert not found.decisions and not found.choices


@needs_compiler
def test_machines_share_no_object(tmp_path, monkeypatch):
    """They may share the folder of wisdom, and -march=native differs between them."""
    compiler = compiling.find("c")
    here = compiler.compile("int x;", tmp_path)
    assert compiler.compile("int x;", tmp_path) == here
    other = {**identity.this_machine(), "instructions": "0" * 16}
    monkeypatch.setattr(identity, "this_machine", lambda: other)
    assert compiler.compile("int x;", tmp_path) != here


def test_a_compiler_that_takes_too_long_ends_with_what_it_started(tmp_path, monkeypatch):
    program, child = tmp_path / "slow-cc", tmp_path / "child"
    program.write_text(f"#!/bin/sh\nsleep 60 &\necho $! > {child}\nwait\n")
    program.chmod(0o755)
    monkeypatch.setattr(compiling, "SECONDS", 1)
    with pytest.raises(Failed, match=r"the generated source does not compile: .*slow-cc takes over 1 s"):
        compiling.Compiler(str(program), "slow", (), ".c").compile("int x;", tmp_path)
    state = Path(f"/proc/{child.read_text().strip()}/stat")
    until = time.monotonic() + 20  # a process that was killed is there until it has a processor once more
    while not is_ended(state) and time.monotonic() < until:
        time.sleep(0.01)
    assert is_ended(state)


def is_ended(state: Path) -> bool:
    try:
        return state.read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_compilers_with_arguments_and_missing_ones(monkeypatch):
    monkeypatch.setenv("CC", "cc -DOF_CC='a b'")
    compiler = compiling.find("c")
    assert compiler.flags[:2] == ("-DOF_CC=a b", "-O3") and Path(compiler.command).name == "cc"
    for value, said in (
        ("no-such-cc -O1", r"CC must name a compiler \(got 'no-such-cc'\)"),
        ("cc '", "a command line"),
    ):
        monkeypatch.setenv("CC", value)
        with pytest.raises(BadInput, match=said):
            compiling.find("c")
