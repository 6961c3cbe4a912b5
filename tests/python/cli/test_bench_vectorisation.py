"""`kumihimo bench vectorisation`: forms agree, wrong ones are named, and the advice follows from the times."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

from kumihimo.cli import bench_vectorisation
from kumihimo.kernel import vectorisation
from kumihimo.kernel.vectorisation import advice, compiler, measurement
from kumihimo.processes import host_memory
from kumihimo.processes.visible import is_running
from kumihimo.text.errors import BadInput, Failed

SHORT = ("--sizes", "small", "--rounds", "3")
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]


@pytest.mark.parametrize("cc", COMPILERS)
def test_all_forms_of_all_loops_are_right(tmp_path, cc):
    asked = compiler.find(cc, vectorisation.FLAGS)
    names = vectorisation.loop_names()
    built = compiler.build(asked, names, tmp_path, lambda what: None)
    described = measurement.list_loops(built)
    assert [loop["loop"] for loop in described] == names and len(names) >= 20
    for loop in described:
        forms = [form["form"] for form in loop["forms"]]
        assert len(forms) >= 3 and all(form["advice"] for form in loop["forms"][1:])
        found = measurement.check(asked, built, loop["loop"])
        assert found == {"loop": loop["loop"], "forms": [{"form": form} for form in forms]}


def test_times_are_medians_with_ratios(kumihimo):
    ended = kumihimo("bench", "vectorisation", "axpy", "sum", "--sizes", "small", "--rounds", "6", "--json")
    assert ended.code == 0, ended.err
    (found,) = json.loads(ended.out)["compilers"]
    assert [loop["loop"] for loop in found["loops"]] == ["axpy", "sum"] and not found["refused"]
    for loop in found["loops"]:
        (size,) = loop["sizes"]
        assert [row["form"] for row in size["forms"]] == [form["form"] for form in loop["forms"]]
        assert any(row["ratio"] == 1 for row in size["forms"])
        for row in size["forms"]:
            assert row["samples"] == 6 and 0 < row["seconds_low"] <= row["seconds"] <= row["seconds_high"]
            assert row["ratio_low"] <= row["ratio"] <= row["ratio_high"]
        assert loop["advice"]


@pytest.mark.parametrize("flags", ["-O0", "-O3 -ffast-math -march=native", "-O2 -funroll-loops"])
def test_other_flags_keep_the_results_within_the_bounds(kumihimo, flags):
    ended = kumihimo("bench", "vectorisation", "sum", "dot", "recurrence", "fir", "--flags", flags, *SHORT, "--json")
    assert ended.code == 0, ended.out + ended.err


def test_the_table_has_advice_and_published_figures(kumihimo):
    ended = kumihimo("bench", "vectorisation", "sum", "matrix_product", *SHORT)
    assert ended.code == 0, ended.err
    for word in ("loop", "form", "ratio", "Advice:", "sum: ", "MFLOPS of the matrix product", "N = 100", "POWER7"):
        assert word in ended.out, word


WRONG = {
    "value": ("y[i] = x[i] + (i == 50);", "differs from the golden copy at n = 51, element 50"),
    "rounding": ("y[i] = x[i] * (1 + 1e-15 * (i % 7 == 6));", "differs from the golden copy"),
    "end": ("y[i] = x[i];\n  y[n] = 0;", "writes beyond its result"),
    "operand": ("y[i] = x[i];\n  ((double *)x)[n] = 0;", "writes beyond an operand"),
}


def loop_with(body: str) -> str:
    return f"""#include "suite.h"
FORM(plain)(double *y, const double *x, long n) {{
  for (long i = 0; i < n; ++i) y[i] = x[i];
}}
FORM(other)(double *y, const double *x, long n) {{
  for (long i = 0; i < n; ++i) {body}
}}
#define RUN(form) static void run_##form(const struct data *d) {{ form(d->out, d->in[0], d->n); }}
RUN(plain) RUN(other)
LOOP(mine, "a copy", {{F64, 1, 1, 0}}, {{{{F64, 1, 1, 0}}}}, .roundings = 1,
     .forms = {{{{"plain", run_plain, ""}}, {{"other", run_other, "copy otherwise"}}}});
"""


def measured(folder: Path, body: str) -> dict:
    (folder / "mine.c").write_text(loop_with(body), encoding="utf-8")
    return bench_vectorisation.measured(compiler.find("cc", "-O2"), ["mine"], ["small"], 3, folder)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_form_is_named_and_not_measured(tmp_path, name):
    body, why = WRONG[name]
    found = measured(tmp_path, body)
    (line,) = found["refused"]
    assert line.startswith("mine, form other: ") and why in line
    plain, other = found["loops"][0]["sizes"][0]["forms"]
    assert plain["ratio"] == 1 and other["refused"] and "seconds" not in other


def test_a_right_form_of_the_same_loop_is_measured(tmp_path):
    assert measured(tmp_path, "y[i] = x[i];")["refused"] == []


def test_a_form_that_crashes_is_refused(tmp_path):
    found = measured(tmp_path, "{ if (n > 2) __builtin_trap(); y[i] = x[i]; }")
    (line,) = found["refused"]
    assert re.fullmatch(r"mine, form other: crashes \(SIG(SEGV|ILL|TRAP)\)", line)
    plain, other = found["loops"][0]["sizes"][0]["forms"]
    assert plain["ratio"] == 1 and "seconds" not in other
    assert found["loops"][0]["advice"].startswith(("keep the plain form", "no advice"))


SLOW = """#!/bin/sh
case "$*" in *--version*) echo slow 1; exit;; *devnull*|*/dev/null*) exit;; esac
echo $$ >>"$(dirname "$0")/started"
sleep 1000
"""


@pytest.fixture
def slow_compiler(tmp_path) -> Path:
    path = tmp_path / "slowcc"
    path.write_text(SLOW)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_compilers_at_once(slow_compiler, number):
    command = [Path(sys.executable).parent / "kumihimo", "bench", "vectorisation", "--cc", slow_compiler]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    started = slow_compiler.parent / "started"
    deadline = time.monotonic() + 60
    while not (started.exists() and started.read_text().strip()):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    begin = time.monotonic()
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0 and "Traceback" not in err
    assert time.monotonic() - begin < 5
    assert not [pid for pid in started.read_text().split() if is_running(int(pid))]


def test_a_compiler_has_a_time_limit(slow_compiler):
    with pytest.raises(Failed, match=r"slowcc did not end within 0.2 s: .*x.c; change --cc or --flags"):
        compiler.CompilerProcesses().run([str(slow_compiler), "x.c"], seconds=0.2)


def test_a_form_that_does_not_compile_is_named(tmp_path):
    with pytest.raises(Failed, match=r"cc does not compile mine.c: .*error"):
        measured(tmp_path, "y[i] = nonsense;")


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (("summ",), "no such loop (got 'summ'); did you mean sum?"),
        (("--cc", "no-such-cc"), "--cc must name C compilers that are here (got 'no-such-cc')"),
        (("--cc", "cc,"), "--cc must name C compilers that are here (got '')"),
        (("--flags", "-mno-such-flag"), "cc must accept the --flags (got '-mno-such-flag': "),
        (("--flags", "-O2 '"), "--flags must be words of a shell"),
        (("--sizes", "huge"), "--sizes must be of small, middle, large (got 'huge')"),
        (("--rounds", "0"), "--rounds must be from 1 to 10000 (got 0)"),
    ],
)
def test_wrong_arguments_are_named(kumihimo, arguments, sentence):
    ended = kumihimo("bench", "vectorisation", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert sentence in ended.err


SOURCE = loop_with("y[i] = x[i];")


def test_the_report_of_gcc_is_attributed_to_forms():
    said = (
        "mine.c:3:25: optimized: loop vectorized using 32 byte vectors\n"
        "mine.c:6:25: missed: couldn't vectorize loop\n"
        "mine.c:7:9: missed: not vectorized: relevant stmt not supported: _5 = foo (_4);\n"
        "suite.h:3:1: optimized: loop vectorized using 16 byte vectors\n"
    )
    found = compiler.reports_of(SOURCE, said, "mine.c")
    assert found["plain"].vectorised and not found["other"].vectorised
    assert found["other"].reason == "relevant stmt not supported"


def test_the_report_of_clang_is_attributed_to_forms():
    said = (
        "mine.c:3:3: remark: vectorized loop (vectorization width: 4, interleaved count: 4) [-Rpass=loop-vectorize]\n"
        "mine.c:6:3: remark: loop not vectorized: value that could not be identified [-Rpass-analysis=x]\n"
    )
    found = compiler.reports_of(SOURCE, said, "mine.c")
    assert found["plain"].vectorised and not found["other"].vectorised
    assert found["other"].reason == "value that could not be identified"


@pytest.mark.parametrize("cc", COMPILERS)
def test_a_compiler_says_that_it_vectorised_restrict(tmp_path, cc):
    built = compiler.build(compiler.find(cc, "-O3"), ["axpy"], tmp_path, lambda what: None)
    assert built.reports["axpy", "restrict"].vectorised
    assert set(compiler.form_lines((vectorisation.LOOPS / "axpy.c").read_text())) == {
        form for loop, form in built.reports
    }


def loop_of(*ratios: float, vectorised: bool = False) -> dict:
    names = ("plain", "easy", "hard")
    forms = [{"form": n, "advice": f"do {n}", "vectorised": vectorised, "reason": "it may alias"} for n in names]
    rows = [
        {"form": n, "seconds": r, "ratio": r, "ratio_low": r * 0.9, "ratio_high": r * 1.1}
        for n, r in zip(names, ratios)
    ]
    return {"loop": "l", "forms": forms, "sizes": [{"size": "small", "n": 1, "forms": rows}]}


def test_advice_names_the_easiest_form_that_is_as_fast():
    assert advice.advise(loop_of(3, 1.1, 1)) == (
        "do easy: 2.7 times as fast (small); the compiler did not vectorise the plain form (it may alias)"
    )
    assert advice.advise(loop_of(3, 2, 1, vectorised=True)) == "do hard: 3.0 times as fast (small)"
    assert advice.advise(loop_of(1.1, 2, 1)) == "keep the plain form: no other is certainly faster"
    assert advice.advise(loop_of(1.13, 2, 1)) == "keep the plain form: the fastest takes 12 % less time (small)"
    assert advice.advise(loop_of(1, 6, 2)).startswith("keep the plain form")
    assert advice.spread(loop_of(1, 6, 2)) == 6


def test_without_intervals_there_is_no_advice():
    loop = loop_of(3, 1.1, 1)
    for row in loop["sizes"][0]["forms"]:
        row["ratio_low"] = row["ratio_high"] = None
    assert advice.advise(loop) == "no advice: an interval needs 6 rounds or more (--rounds)"


def test_a_wrong_plain_form_is_told():
    loop = loop_of(1, 1, 1)
    loop["sizes"][0]["forms"][0] = {"form": "plain", "refused": "differs"}
    assert advice.advise(loop).startswith("the plain form is wrong")


def test_a_driver_that_closes_its_output_has_a_time_limit(tmp_path, monkeypatch):
    driver = tmp_path / "driver"
    driver.write_text(f"#!{sys.executable}\nimport os, time\nos.close(1)\ntime.sleep(20)\n")
    driver.chmod(0o755)
    monkeypatch.setattr(measurement, "LIMIT_SECONDS", 0.5)
    built = types.SimpleNamespace(driver=driver)
    begun = time.monotonic()
    with pytest.raises(Failed, match=r"loop axpy did not end within 0\.5 s: cc; leave the loop out"):
        measurement.run(types.SimpleNamespace(text="cc"), built, "axpy", [])
    assert time.monotonic() - begun < 10


def test_sizes_follow_the_caches(tmp_path):
    for index, (level, kind, size) in enumerate([(1, "Data", 48), (1, "Instruction", 64), (2, "Unified", 1024)]):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, text in (("level", level), ("type", kind), ("size", f"{size}K")):
            (folder / name).write_text(f"{text}\n")
    assert host_memory.caches(tmp_path) == (48 * 2**10, 2**20, 2**20)
    assert host_memory.caches(tmp_path / "none") == host_memory.USUAL_CACHES
    sizes = measurement.bytes_of_sizes((2**15, 2**20, 2**25), 2**40)
    assert sizes == {"small": 2**14, "middle": 2**19, "large": 2**27}
    assert measurement.bytes_of_sizes((2**15, 2**20, 2**25), 2**28)["large"] == 2**25


def test_unbalanced_quotes_are_refused():
    with pytest.raises(BadInput, match="close the quotation"):
        compiler.find("cc", '-O2 "')
