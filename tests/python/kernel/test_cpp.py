"""C++ programs with kernels: what the header serves, and what runs when the program runs by itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from kernel_sessions import decision_of, refused_of

from kumihimo.kernel import choices, identity
from kumihimo.kernel.session import Session
from kumihimo.text.errors import Failed

pytestmark = pytest.mark.skipif(not (shutil.which("g++") or shutil.which("c++")), reason="no C++ compiler")
HERE = Path(__file__).parent


class SyntheticTimes(Session):
    """Real checks by the program; times from a table."""

    def __init__(self, command, cost) -> None:
        super().__init__(command, start_seconds=20)
        self.cost = cost

    def _ask(self, request, seconds):
        if request["do"] == "time":
            return {"seconds": self.cost(request["variant"], request["parameters"], request["size"])}
        return super()._ask(request, seconds)


@pytest.fixture(scope="module")
def wrong(compile_cpp, tmp_path_factory) -> Path:
    return compile_cpp(HERE / "wrong.cpp", tmp_path_factory.mktemp("wrong") / "wrong")


def by_table(variant, parameters, size):
    if size == 16:
        return 1e-6 if parameters == {"block": 32} else 2e-6
    return 1e-6 if variant == "text" else 2e-6


@pytest.fixture
def found(wrong, tuned, short_limits):
    with SyntheticTimes([str(wrong)], by_table) as session:
        return tuned(None, session=session)


def test_every_wrong_variant_is_refused_and_the_right_ones_are_chosen(found):
    refused = refused_of(found)
    assert decision_of(found, 16)["chosen"] == {"variant": "blocked", "parameters": {"block": 32}}
    assert decision_of(found, 64)["chosen"] == {"variant": "text", "parameters": {"times": 3}}
    assert "] is 7, the golden copy's" in refused["forgets"]
    for variant, said in {
        "behind": "size 1, seed 0, random input: writes outside its output: byte 1 behind array 2",
        "its_input": "size 1, seed 0, random input: writes to its input, array 1",
        "crashes": "size 17, seed 1, random input: ended by SIGSEGV",
        "exits": "size 2, seed 0, random input: ended the process with exit code 3",
        "hangs": "size 3, seed 0, random input: did not return within",
        "throws": "size 4, seed 0, random input: throws no 4",
        "wants_alignment": "size 1, seed 1, random input: array 2[0] is 7",
        "none": "libnone.so",
        "text": "size 1, seed 0, random input: array 2[0] is ",  # times 2
    }.items():
        assert refused[variant].startswith(said), refused[variant]
    right = {"golden", "backwards", "blocked", "lambda", "cat", "text", "loop"}
    tried = {row["variant"] for each in found.decisions for row in each["tried"] if "seconds" in row}
    assert tried == right
    (none,) = [row for row in found.decisions[0]["tried"] if row["variant"] == "none"]
    assert none["unavailable"]


def test_the_listing_has_machine_hashes_and_hints(wrong):
    with Session([str(wrong)]) as session:
        listing = session.listing()
    (kernel,) = listing["kernels"]
    assert listing["language"] == "c++" and listing["machine"] == identity.this_machine()
    assert (kernel["name"], kernel["sizes"], kernel["inputs"], kernel["bound"]) == ("triple", [16, 64], True, False)
    assert len(kernel["golden"]) == 16 and kernel["compiler"].startswith(("GCC", "Clang"))
    loop = next(each for each in kernel["variants"] if each["kind"] == "loop")["loop"]
    assert loop["prototype"] == "void kumihimo_loop(const double* x, double* y, long n)"


def test_a_program_that_calls_no_kernel_is_served_at_its_end(wrong):
    with Session([str(wrong), "without"]) as session:
        assert session.listing()["kernels"][0]["name"] == "triple"


def test_a_program_without_kernels_says_so():
    with Session(["true"]) as session, pytest.raises(Failed) as error:
        session.listing()
    assert str(error.value).startswith("the program true ended the process with exit code 0 before it called a kernel")
    with Session(["./no-such-program"]) as session, pytest.raises(Failed, match="did not start: No such file"):
        session.listing()


def run(program: Path) -> str:
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout


def test_a_program_runs_its_choices_and_survives_damage(found, wrong, compile_cpp, tmp_path):
    path = choices.path_of("triple")
    file = json.loads(path.read_text())
    assert run(wrong) == "6\n"
    # What runs is seen by an object of our own in its place.
    text = next(each for each in file["choices"] if each["variant"] == "text")
    sabotage = tmp_path / "sabotage.cpp"
    sabotage.write_text('extern "C" void text(const double*, double* y, long n) { y[n - 1] = 42; }')
    compile_cpp(sabotage, choices.objects() / text["object"], "-shared", "-fPIC", "-w")
    everywhere = {**text, "from_size": 0, "to_size": 99}

    def write(row: dict) -> None:
        path.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": [row]}))

    write(everywhere)
    assert run(wrong) == "42\n"
    for change in (
        {"golden": "0" * 16},
        {"source": "0" * 16},
        {"compiler": "GCC 3"},
        {"language": "python"},
        {"machine": {**identity.this_machine(), "processor": "another"}},
        {"machine": {**identity.this_machine(), "instructions": "0" * 16}},
        {"object": "gone.so"},
        {"multiple": 5},
        {"odd": True},
        {"power_of_two": False},
        {"to_size": 15},
        {"variant": "gone"},
        {"object": f"../objects/{text['object']}"},
    ):
        write({**everywhere, **change})
        assert run(wrong) == "6\n", change
    for damaged in ("", "{", "[" * 100000, '{"kumihimo_wisdom": 2, "choices": []}', '{"kumihimo_wisdom": 1}', '"\\'):
        path.write_text(damaged)
        assert run(wrong) == "6\n", damaged


HEAD = """
#include <kumihimo/kernel.hpp>
#include <cstdio>
namespace k = kumihimo::kernel;
"""
OF_A_FILE = (
    HEAD
    + """
KUMIHIMO_FUNCTION(double, value, (long n), { return static_cast<double>(n) * NUMBER; })
KUMIHIMO_FUNCTION(double, unused, (long n), { return static_cast<double>(n); })
k::Kernel<double(long)> NAME =
    k::Kernel<double(long)>(TITLE, KUMIHIMO_CODE(value)).size([](long n) { return n; });
"""
)
MAIN = (
    HEAD
    + """
extern k::Kernel<double(long)> first, second;
int main() { std::printf("%g %g\\n", first(1), second(1)); }
"""
)


def test_functions_of_one_name_in_two_files_stay_apart(compile_cpp, tmp_path):
    files = {"first.cpp": OF_A_FILE, "second.cpp": OF_A_FILE, "main.cpp": MAIN}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    objects = []
    for number, name in ((1, "first"), (2, "second")):
        flags = ["-c", f"-DNUMBER={number}", f"-DNAME={name}", f'-DTITLE="{name}"', *["-ffast-math"] * (number - 1)]
        objects.append(str(compile_cpp(tmp_path / f"{name}.cpp", tmp_path / f"{name}.o", "-Wshadow", *flags)))
    program = compile_cpp(tmp_path / "main.cpp", tmp_path / "program", *objects)
    assert run(program) == "1 2\n"
    with Session([str(program)]) as session:
        first, second = session.listing()["kernels"]
    assert first["compiler"] + ", fast-math" == second["compiler"]


BOUNDED = (
    HEAD
    + """
KUMIHIMO_FUNCTION(double, total, (const double* x, long n), {
  double s = 0;
  for (long i = 0; i < n; ++i) s += x[i];
  return s;
})
KUMIHIMO_FUNCTION(double, wrong, (const double*, long), { return 42; })
KUMIHIMO_FUNCTION(double, most, (const double*, long n), { return MOST; })
static const k::Kernel<double(const double*, long)> kernel =
    k::Kernel<double(const double*, long)>("total", KUMIHIMO_CODE(total))
        .size([](const double*, long n) { return SIZE; })
        .sizes({16})
        .inputs([](k::Data& data, long n) { return std::tuple{data.input<double>(n), n}; })
        .bound([](long) { return OPERATIONS; }, most)
        .variant(VARIANT, KUMIHIMO_CODE(wrong));
int main() { const double x[1] = {}; kernel(x, 1); }
"""
)


def bounded(compile_cpp, tmp_path, operations="1L", most="static_cast<double>(n)", variant="wrong", size="n") -> Path:
    (tmp_path / "bounded.cpp").write_text(BOUNDED)
    flags = [f"-DOPERATIONS={operations}", f"-DMOST={most}", f'-DVARIANT="{variant}"', f"-DSIZE={size}"]
    flags.append("-Wno-unused-parameter")
    return compile_cpp(tmp_path / "bounded.cpp", tmp_path / "bounded", *flags)


def test_a_bound_that_accepts_everything_leaves_the_kernel_untuned(compile_cpp, tmp_path, tuned):
    program = bounded(compile_cpp, tmp_path, operations="1L << 60")
    with SyntheticTimes([str(program)], lambda *asked: 1e-6) as session:
        found = tuned(None, session=session)
    (left,) = found.left
    assert "the error bound holds for fewer operations than 1 / unit roundoff" in left["reason"]
    assert not found.files


def test_an_infinite_magnitude_compares_nothing(compile_cpp, tmp_path, tuned):
    program = bounded(compile_cpp, tmp_path, most="std::numeric_limits<double>::infinity() * static_cast<double>(n)")
    with SyntheticTimes([str(program)], lambda *asked: 1e-6) as session:
        refused = refused_of(tuned(None, session=session))
    assert refused == {"wrong": "no input could be compared: the magnitude is infinite, so no error bound holds"}


def test_another_bound_has_no_choices(compile_cpp, tmp_path):
    found = []
    for operations in ("1L", "2L"):
        with Session([str(bounded(compile_cpp, tmp_path, operations=operations))]) as session:
            found.append(session.listing()["kernels"][0]["golden"])
    assert found[0] != found[1]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"operations": "throw std::runtime_error{std::string{}}, 1L"}, "operations or magnitude throws "),
        ({"most": "throw std::runtime_error{std::string{}}, 1.0"}, "operations or magnitude throws "),
        ({"size": "2 * n"}, "size gives 2 for the arguments of inputs(data, 1); correct size or inputs"),
    ],
)
def test_a_wrong_declaration_leaves_the_kernel_untuned(compile_cpp, tmp_path, tuned, flags, said):
    with SyntheticTimes([str(bounded(compile_cpp, tmp_path, **flags))], lambda *asked: 1e-6) as session:
        found = tuned(None, session=session)
    (left,) = found.left
    assert left["reason"].startswith(said) and found.failed == ["total"]


RETURNS_NOTHING = (
    HEAD
    + """
KUMIHIMO_FUNCTION(void, nothing, (const double*, long), {})
static const k::Kernel<void(const double*, long)> kernel =
    k::Kernel<void(const double*, long)>("nothing", KUMIHIMO_CODE(nothing))
        .size([](const double*, long n) { return n; })
        .sizes({16})
        .inputs([](k::Data& data, long n) { return std::tuple{data.input<double>(n), n}; })
        .variant("same", KUMIHIMO_CODE(nothing));
int main() { const double x[1] = {}; kernel(x, 1); }
"""
)


def test_a_kernel_of_which_nothing_can_be_compared_is_left_untuned(compile_cpp, tmp_path, tuned):
    (tmp_path / "nothing.cpp").write_text(RETURNS_NOTHING)
    with SyntheticTimes([str(compile_cpp(tmp_path / "nothing.cpp", tmp_path / "nothing"))], lambda *_: 1e-6) as session:
        (left,) = tuned(None, session=session).left
    assert left["reason"].startswith("nothing can be compared: the kernel returns nothing and has no outputs")


REFUSED = HEAD + "KUMIHIMO_FUNCTION(void, f, (double& x), { x = 1; })\nint main() { %s; }\n"


def test_references_to_what_is_written_are_refused_in_one_sentence(include, tmp_path):
    source = tmp_path / "reference.cpp"
    source.write_text(REFUSED % 'k::Kernel<void(double&)>("f", KUMIHIMO_CODE(f))')
    words = ["c++", "-std=c++17", "-fsyntax-only", f"-I{include}", str(source)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode and "a kernel takes no non-const reference: take a pointer to what it writes" in done.stderr


def test_a_library_file_is_part_of_the_hash(compile_cpp, tmp_path):
    library, source = tmp_path / "lib.so", tmp_path / "library.cpp"
    added = f'.library("file", "{library}", "f").library("name", "libnone.so", "f");'
    source.write_text(BOUNDED.replace("KUMIHIMO_CODE(wrong));", f"KUMIHIMO_CODE(wrong)){added}"))
    flags = ("-DOPERATIONS=1L", "-DMOST=1", '-DVARIANT="wrong"', "-DSIZE=n", "-Wno-unused-parameter")
    program = compile_cpp(source, tmp_path / "library", *flags)
    found = []
    for text in ("", "1"):
        library.write_text(text)
        with Session([str(program)]) as session:
            rows = session.listing()["kernels"][0]["variants"]
        found.append({row["name"]: row["hash"] for row in rows})
    assert [name for name in found[0] if found[0][name] != found[1][name]] == ["file"]


def test_an_unknown_edge_is_refused(compile_cpp, tmp_path):
    source = tmp_path / "edge.cpp"
    source.write_text(BOUNDED.replace(".sizes({16})", '.sizes({16}).edges({"zero"})'))
    flags = ("-DOPERATIONS=1L", "-DMOST=1", '-DVARIANT="wrong"', "-DSIZE=n", "-Wno-unused-parameter")
    program = compile_cpp(source, tmp_path / "edge", *flags)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "an edge input must be one of zeros, huge, tiny (got 'zero')" in done.stderr


def test_a_program_that_has_not_the_pipes_goes_on(wrong):
    environment = {**os.environ, "KUMIHIMO_KERNEL_TUNING": "0,1"}
    words = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "check": True}
    assert subprocess.run([str(wrong)], env=environment, **words).stdout == "6\n"


def test_a_variant_has_a_name_of_its_own(compile_cpp, tmp_path):
    program = bounded(compile_cpp, tmp_path, variant="golden")
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "a variant needs a name of its own (got 'golden' of total)" in done.stderr


CALLS_ANOTHER = (
    HEAD
    + """
KUMIHIMO_FUNCTION(double, inner_golden, (long), { return 1; })
KUMIHIMO_FUNCTION(double, inner_fast, (long), { return 2; })
KUMIHIMO_FUNCTION(double, inner_by, (const k::Values& values, long), { return static_cast<double>(values[0]); })
static const k::Kernel<double(long)> inner = k::Kernel<double(long)>("inner", KUMIHIMO_CODE(inner_golden))
    .size([](long n) { return n; }).variant("fast", KUMIHIMO_CODE(inner_fast))
    .variant("by", {{"value", {3}}}, KUMIHIMO_CODE(inner_by));
KUMIHIMO_FUNCTION(double, outer_golden, (long n), { return inner(n); })
KUMIHIMO_FUNCTION(double, outer_one, (long), { return 1; })
static const k::Kernel<double(long)> outer = k::Kernel<double(long)>("outer", KUMIHIMO_CODE(outer_golden))
    .size([](long n) { return n; }).inputs([](k::Data&, long n) { return std::tuple{n}; })
    .variant("one", KUMIHIMO_CODE(outer_one));
int main() { std::printf("%g\\n", outer(4)); }
"""
)


def test_under_tuning_a_golden_copy_calls_golden_copies(compile_cpp, tmp_path):
    (tmp_path / "calls.cpp").write_text(CALLS_ANOTHER)
    program = compile_cpp(tmp_path / "calls.cpp", tmp_path / "calls")
    with Session([str(program)]) as session:
        listing = session.listing()
    inner = listing["kernels"][0]
    source, source_of_by = (each["hash"] for each in inner["variants"])
    key = choices.key_of(inner["golden"], inner["compiler"], "c++", listing["machine"])
    row = {"kernel": "inner", **key, "variant": "fast", "parameters": {}, "source": source, "from_size": 1}
    path = choices.path_of("inner")
    path.parent.mkdir(parents=True, exist_ok=True)
    by = {**row, "variant": "by", "source": source_of_by}
    for choice, printed in (({**by, "parameters": {"value": 3}}, "3\n"), (by, "1\n"), (row, "2\n")):
        path.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": [choice]}))
        assert run(program) == printed  # the golden copy where the choice has no value
    asked = {"do": "check", "kernel": "outer", "variant": "one", "parameters": {}, "object": ""}
    with Session([str(program)]) as session:
        assert session.ask({**asked, "size": 4, "seed": 0, "input": "random"}, 10) == {"ok": True}
