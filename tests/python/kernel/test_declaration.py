"""A program with kernels: without wisdom, with choices, and after its source was edited."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import textwrap
from array import array
from pathlib import Path

import pytest

from kumihimo.kernel import choices, declaration, identity, kernel, serving
from kumihimo.text.errors import BadInput


def write(name: str, rows: list[dict]) -> None:
    path = choices.path_of(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": rows}), encoding="utf-8")


def choice(declared, variant: str, values: dict | None = None, **more) -> dict:
    key = choices.key_of(declared.golden_hash(), identity.interpreter(), "python")
    source = declared.variants[variant].hash(values or {})
    return {"kernel": declared.name, **key, "variant": variant, "parameters": values or {}, "source": source, **more}


def declare(**options):
    @kernel(**options)
    def total(x):
        return "golden", sum(x)

    @total.variant
    def fast(x):
        return "fast", sum(x)

    @total.variant(block=[2, 4])
    def blocked(x, block):
        return f"blocked {block}", sum(x)

    return total


def test_untuned_it_is_the_golden_copy():
    total = declare()
    assert total([1, 2]) == ("golden", 3) == total.golden([1, 2]) == total(x=[1, 2])
    assert total.__name__ == "total"


def test_sizes_run_what_was_chosen_for_them():
    total = declare()
    write(
        "total",
        [
            choice(total, "fast", from_size=2, to_size=4),
            choice(total, "blocked", {"block": 4}, from_size=5, to_size=8),
        ],
    )
    ran = [total([1] * size)[0] for size in range(1, 10)]
    assert ran == ["golden", *["fast"] * 3, *["blocked 4"] * 4, "golden"]


def test_calls_without_the_promised_property_run_the_golden_copy():
    total = declare()
    write("total", [choice(total, "fast", from_size=1, to_size=99, multiple=2, power_of_two=False)])
    assert [total([1] * size)[0] for size in (3, 4, 6)] == ["golden", "golden", "fast"]
    assert choices.is_for({"odd": True}, 3) and not choices.is_for({"odd": True}, 4)


@pytest.mark.parametrize(
    "wrong",
    [
        {"golden": "0" * 16},
        {"source": "0" * 16},
        {"variant": "gone"},
        {"language": "c++"},
        {"compiler": "CPython 2.7"},
        {"machine": {**identity.this_machine(), "processor": "another"}},
        {"machine": {**identity.this_machine(), "instructions": "0" * 16}},
        {"parameters": 7},
    ],
)
def test_choices_of_another_source_compiler_or_machine_are_not_taken(wrong):
    total = declare()
    write("total", [{**choice(total, "fast", from_size=1, to_size=9), **wrong}])
    assert total([1, 2])[0] == "golden"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "7",
        '{"kumihimo_wisdom": 2, "choices": []}',
        '{"kumihimo_wisdom": 1, "choices": 3}',
        "[" * 100000,
        "\x00",
    ],
)
def test_damaged_wisdom_leaves_the_golden_copy(text):
    total = declare()
    path = choices.path_of("total")
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert total([1, 2])[0] == "golden"


SOURCE = """
from kumihimo.kernel import kernel

@kernel
def total(x):{comment}
    return {golden}

@total.variant
def fast(x):
    return {fast}
"""


def hashes(file_of, name: str, **parts) -> tuple[str, str]:
    path = file_of(SOURCE.format(**{"comment": "", "golden": "sum(x)", "fast": "sum(x[:])", **parts}), f"{name}.py")
    code = f"import runpy; total = runpy.run_path({str(path)!r})['total']; "
    code += "print(total.golden_hash(), total.variants['fast'].hash({}))"
    return tuple(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )


def test_an_edited_golden_copy_has_another_hash(file_of):
    first = hashes(file_of, "a")
    assert hashes(file_of, "b", comment="\n    # a comment\n") == first
    golden, fast = hashes(file_of, "c", golden="sum(x) + 0")
    assert golden != first[0] and fast == first[1]
    golden, fast = hashes(file_of, "d", fast="sum(x[::-1])")
    assert golden == first[0] and fast != first[1]


def test_a_decorator_with_a_lambda_hides_no_source(file_of):
    text = SOURCE.replace("@kernel", "@kernel(\n    size=lambda x: len(x),\n    operations=lambda n: n, magnitude=sum)")
    path = file_of(text.format(comment="", golden="sum(x)", fast="sum(x)"))
    code = f"import runpy; from kumihimo.kernel import identity; total = runpy.run_path({str(path)!r})['total']; "
    code += "print(identity.source_of(total.golden), identity.source_of(total.size), sep=';')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "def total(x):\n    return sum(x);lambda x: len(x)\n"


DECORATED = """
import functools
from kumihimo import kernel as kd

def scaled(factor):
    def wrap(function):
        {wraps}
        def scaled_function(x):
            return factor * function(x)
        return scaled_function
    return wrap

class Adder:
    def __init__(self, start):
        self.start = start
    def __call__(self, x):
        return sum(x) + {added}

def block_sum(x, block):
    return sum(x)

@kd.kernel(hint="{hint}")
def total(x):
    return sum(x)

@total.variant(name="decorated")
@scaled({factor})
def decorated(x):
    return sum({body})

total.variant(functools.partial(block_sum, block={block}), name="bound")
total.variant(Adder({start}), name="callable")
"""
DEFAULTS = {"wraps": "pass", "added": 0, "hint": "even", "factor": 1, "body": "x", "block": 1, "start": 0}


def decorated_hashes(file_of, name: str, **parts) -> dict[str, str]:
    code = DECORATED.format(**{**DEFAULTS, **parts})
    code += "print({'golden': total.golden_hash(), **{n: v.hash({}) for n, v in total.variants.items()}})"
    done = subprocess.run([sys.executable, file_of(code, name)], capture_output=True, text=True, check=True)
    return ast.literal_eval(done.stdout)


@pytest.mark.parametrize(
    ("changed", "parts"),
    [
        ("decorated", {"factor": 3}),
        ("decorated", {"body": "x[::-1]"}),
        ("bound", {"block": 2}),
        ("callable", {"start": 1}),
        ("callable", {"added": 1}),
        (None, {"hint": "odd"}),  # the kernel's own decorator
    ],
)
@pytest.mark.parametrize("wraps", ["pass", "@functools.wraps(function)"])
def test_hashes_follow_decorators_bound_arguments_and_callable_objects(file_of, changed, parts, wraps):
    first = decorated_hashes(file_of, "first.py", wraps=wraps)
    edited = decorated_hashes(file_of, "edited.py", wraps=wraps, **parts)
    assert [name for name in first if first[name] != edited[name]] == ([changed] if changed else [])


USES = """
from kumihimo.kernel import kernel

SCALE = {scale}
count = 0

def helper(x):
    return [SCALE * each for each in x] + {of_helper}

@kernel(operations=lambda size: {operations} * size, magnitude=lambda x: sum(map(abs, x)) + {of_magnitude})
def total(x):
    return sum(helper(x))

@total.variant
def same(x):
    return sum(each for each in helper(x))

@total.variant
def other(x):
    return sum(x)

if __name__ == "__main__":
    count = 1
    print(dict(golden=total.golden_hash(), **dict((n, v.hash(dict())) for n, v in total.variants.items())))
"""


@pytest.mark.parametrize(
    ("changed", "parts"),
    [
        (["golden", "same"], {"scale": 2}),
        (["golden", "same"], {"of_helper": "[0]"}),
        (["golden"], {"operations": 1}),
        (["golden"], {"of_magnitude": 1}),
        ([], {}),
    ],
)
def test_hashes_follow_the_functions_and_constants_of_the_file_and_the_bound(file_of, changed, parts):
    def hashes(name: str, **parts) -> dict:
        code = USES.format(**{"scale": 1, "of_helper": "[]", "operations": 2, "of_magnitude": 0, **parts})
        done = subprocess.run([sys.executable, file_of(code, name)], capture_output=True, text=True, check=True)
        return ast.literal_eval(done.stdout)

    first, edited = hashes("first.py"), hashes("edited.py", **parts)
    assert [name for name in first if first[name] != edited[name]] == changed


def test_functions_that_hold_each_other_have_a_hash():
    def first(x):
        return second(x)

    def second(x):
        return first(x)

    assert identity.hash_of_function(first) != identity.hash_of_function(second)


def test_functions_without_source_have_a_hash():
    names: dict = {}
    exec("def f(x): return x + 1\ndef g(x): return x + 2\nh = lambda x: x", names)
    found = {identity.hash_of_function(names[name]) for name in "fgh"} | {identity.hash_of_function(sum)}
    assert len(found) == 4


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"hint": "fastest"}, "a hint must be one of"),
        ({"edges": ("nan",)}, "an edge input must be one of zeros, huge, tiny (got 'nan')"),
        ({"precision": "half"}, "precision must be float64 or float32 (got 'half')"),
        ({"operations": len}, "an error bound needs both operations and magnitude (got one of them for total)"),
        (
            {"name": "my kernel"},
            "the name of a kernel must have letters, digits, _ . and - (got 'my kernel'); give name=",
        ),
    ],
)
def test_a_wrong_declaration_is_one_sentence(options, sentence):
    with pytest.raises(BadInput) as error:
        declare(**options)
    assert sentence in str(error.value)


def test_wrong_variants_are_one_sentence():
    total = declare()
    with pytest.raises(BadInput, match=r"a variant needs a name of its own \(got 'fast' of total\); give name="):
        total.variant(sum, name="fast")
    with pytest.raises(BadInput, match=r"the name of a variant must have letters.*\(got '<lambda>'\)"):
        total.variant(lambda x: 1)
    with pytest.raises(BadInput, match="the parameter block must have at least one number or text"):
        total.variant(sum, name="more", block=[])
    with pytest.raises(BadInput, match="a command needs at least one word"):
        total.command("more", [])


def test_the_machine_is_that_of_other_wisdom():
    from kumihimo import _base, _plan

    machine = _plan.this_machine()
    here = identity.this_machine()
    assert (here["processor"], here["processors"]) == (machine.processor, machine.processors)
    assert (here["processor"], here["instructions"]) == _base.machine_of(Path("/proc/cpuinfo").read_text()[:4096])
    arm = "processor\t: 0\nCPU implementer\t: 0x46\nCPU variant\t: 0x1\nCPU part\t: 0x001\n"
    assert _base.machine_of(arm)[0] == "Arm implementer 0x46, part 0x001, variant 0x1"
    assert _base.machine_of("")[0] == ""


def test_instruction_sets_are_part_of_the_machine():
    from kumihimo import _base

    found = [_base.machine_of(f"flags : {flags}\n")[1] for flags in ("avx2 fma", "fma avx2", "fma")]
    assert found[0] == found[1] != found[2]
    assert _base.machine_of("Features\t: fma avx2\n")[1] == found[0]


def test_a_program_loads_no_native_module_and_no_tuner(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
            import sys
            from kumihimo.kernel import kernel

            @kernel
            def total(x):
                return sum(x)

            print(total([1, 2, 3]))
            foreign = ("kumihimo", "numpy", "optuna", "typer", "click")
            print(*sorted(name for name in sys.modules if name.partition(".")[0] in foreign))
        """),
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True)
    parts = ("choices", "declaration", "guards", "hints", "identity", "loops", "native", "prototypes", "variants")
    of_all = ("processes", "processes.child_output", "processes.children", "kernel")
    of_all += ("text", "text.documents", "text.errors", "text.json_types", "text.odd_bytes")
    loaded = sorted(["kumihimo", *(f"kumihimo.{name}" for name in (*of_all, *(f"kernel.{part}" for part in parts)))])
    assert done.stdout.splitlines() == ["6", " ".join(loaded)]


def test_an_expert_hint_fixes_a_parameter():
    total = declare(hint="unroll by 5")
    total.variant(sum, name="sums", unroll=[1, 2])
    assert total.variants["sums"].parameters == {"unroll": (5,)}


def test_arrays_and_methods_of_size():
    total = declare(size=lambda x: 2 * len(x))
    write("total", [choice(total, "fast", from_size=4, to_size=4)])
    assert [total(array("d", [1] * size))[0] for size in (1, 2, 4)] == ["golden", "fast", "golden"]


def test_under_tuning_a_golden_copy_calls_golden_copies(monkeypatch):
    total = declare()
    write("total", [choice(total, "fast")])
    assert total([1])[0] == "fast"
    total._plan = None

    @kernel
    def outer(x):
        return total(x)

    asking, answering = os.pipe(), os.pipe()
    os.write(asking[1], json.dumps({"do": "list"}).encode() + b"\n")
    os.close(asking[1])
    monkeypatch.setenv("KUMIHIMO_KERNEL_TUNING", f"{asking[0]},{answering[1]}")
    monkeypatch.setattr(os, "_exit", lambda code: None)
    serving.serve(declaration.declared)
    assert outer.golden([1]) == ("golden", 1)


@pytest.mark.parametrize(
    "damage",
    [
        {"multiple": 0},
        {"multiple": True},
        {"from_size": "x"},
        {"to_size": None},
        {"from_size": -1.5},
        {"odd": "yes"},
        {"power_of_two": [1]},
        {"variant": ["fast"]},
        {"parameters": [1]},
        {"parameters": {"unknown": 3}},
        {"object": 7},
        {"object": "../fast.so"},
        {"object": "/tmp/fast.so"},
    ],
)
def test_a_damaged_choice_leaves_the_golden_copy(damage):
    total = declare()
    write("total", [{**choice(total, "fast"), **damage}])
    assert total([1, 2]) == ("golden", 3)
