"""`kumihimo tune kernel` with the kernels of a program, as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from waiting import until

from kumihimo.cli import tune_program
from kumihimo.kernel import session
from kumihimo.kernel.session import Changed, Ended, Session

FILE = """
import os, signal, sys, time
from kumihimo.kernel import kernel

@kernel(inputs=lambda size, seed: ([float(i + seed) for i in range(size)],), sizes=(8, 16))
def total(x):
    time.sleep(0.003)
    return sum(x)

@total.variant
def quick(x):
    return sum(x)

@total.variant
def wrong(x):
    return sum(x[1:])

@total.variant
def crashes(x):
    os.kill(os.getpid(), signal.SIGSEGV)

@total.variant
def leaves(x):
    sys.exit("bye")

@kernel
def unused(x):
    return x

if __name__ == "__main__":
    print(total([1.0] * 8))
"""


def test_a_file_of_kernels_is_tuned_and_explained(kumihimo, file_of):
    path = file_of(FILE)
    ended = kumihimo("tune", "kernel", str(path), "--explain", "--budget", "20s")
    assert ended.code == 1  # something was refused
    lines = ended.out.splitlines()
    assert any(line.split()[:4] == ["total", "8", "quick", "*"] for line in lines), ended.out
    for said in (
        "total: wrong: size 1, seed 1, random input: result is 0, the golden copy's 1.0",
        "total: crashes: size 1, seed 0, random input: ended by SIGSEGV",
        "unused: it has no variants",
        "total: exhaustive search, 4 of 4 candidates per size",
        "bitwise",
    ):
        assert said in ended.out, said
    assert "total: leaves: size 1, seed 0, random input: ended the process with exit code 1" in ended.out
    (wisdom,) = [line for line in lines if line.startswith("The choices are in ")]
    assert wisdom.endswith("wisdom/kernels/total.json; the program uses them.")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "8.0\n"


def test_one_object_of_json(kumihimo, file_of):
    path = file_of(FILE)
    ended = kumihimo("tune", "kernel", f"{path}:total", "--json", "--size", "8", "--search", "random")
    found = json.loads(ended.out)
    (decision,) = found["results"]
    assert (decision["kernel"], decision["size"], decision["search"]) == ("total", 8, "random")
    assert decision["chosen"] == {"variant": "quick", "parameters": {}}
    assert len(found["wrong"]) == 3 and not found["interrupted"] and not found["left_untuned"]
    (choice,) = found["choices"]
    assert choice["variant"] == "quick" and choice["measured"][0]["ratio_high"] < 1


def test_ctrl_c_keeps_what_was_found(file_of, tmp_path):
    endless = "\n@kernel(inputs=lambda n, seed: ([1.0] * n,), sizes=(8,))\ndef endless(x):\n    time.sleep(1000)\n"
    path = file_of(
        FILE.replace("@kernel\ndef unused", "@kernel(hint='even')\ndef unused") + endless + "endless.variant(sum)\n"
    )
    words = [str(Path(sys.executable).parent / "kumihimo"), "tune", "kernel", str(path), "--json"]
    run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    kept = tmp_path / "data" / "kumihimo" / "wisdom" / "kernels" / "total.json"
    until(kept.exists, "the first kernel is tuned", run)
    os.killpg(run.pid, signal.SIGINT)
    out, err = run.communicate(timeout=20)
    assert run.returncode == 1 and "interrupted; the results so far are kept" in err and "Traceback" not in err, err
    found = json.loads(out)
    assert found["interrupted"] and found["choices"] == json.loads(kept.read_text())["choices"]


def test_the_include_folder_is_printed(kumihimo):
    folder = Path(kumihimo("tune", "kernel", "--include").out.strip())
    assert (folder / "kumihimo" / "kernel.hpp").is_file()
    found = json.loads(kumihimo("tune", "kernel", "--include", "--json").out)
    assert found["include"] == str(folder) and found["wall_seconds"] > 0


def test_a_kernel_that_a_failure_leaves_untuned_ends_with_1(kumihimo, file_of):
    path = file_of(FILE.replace("return sum(x)", "raise RuntimeError('not yet')", 1))
    ended = kumihimo("tune", "kernel", str(path), "--json")
    found = json.loads(ended.out)
    assert ended.code == 1 and found["failed"] == ["total"] and not found["wrong"]


def test_a_search_that_the_budget_ended_is_said():
    row = {"kernel": "dot", "size": 8, "search": "exhaustive", "measured": 3, "candidates": 9}
    said = ["dot of size 8: searched 3 of 9 candidates"]
    assert tune_program.cut_short([row, {**row, "measured": 9}, {**row, "search": "random"}]) == said


def check_of(variant: str) -> dict:
    asked = {"do": "check", "kernel": "total", "variant": variant, "parameters": {}, "object": ""}
    return {**asked, "size": 8, "seed": 0, "input": "random"}


def test_a_program_that_is_edited_while_it_is_tuned_is_not_tuned_on(file_of):
    path = file_of(FILE)
    with session.of_file(str(path)) as program:
        program.listing()
        path.write_text(path.read_text().replace("return sum(x)\n", "return sum(x) + 0\n"))
        with pytest.raises(Ended):
            program.ask(check_of("leaves"), 10)
        with pytest.raises(Changed, match="the kernel total changed while the program was tuned; tune it again"):
            program.ask(check_of("quick"), 10)
        path.write_text("x =")
        with pytest.raises(Changed, match="ended the process with exit code 1 when it was started again"):
            program.ask(check_of("quick"), 10)
        path.write_text(FILE)
        assert program.ask(check_of("quick"), 10) == {"ok": True}


def test_hashes_are_those_of_the_text_that_was_imported(file_of):
    edit = "\nfrom pathlib import Path\n"
    edit += "Path(__file__).write_text(Path(__file__).read_text().replace('sum(x)', 'sum(x) + 0'))\n"
    paths = [file_of(FILE, "first.py"), file_of(FILE + edit, "edits_itself.py")]
    found = []
    for path in paths:
        with session.of_file(str(path)) as program:
            found.append(session.hashes_of(program.listing()))
    assert "sum(x) + 0" in paths[1].read_text() and found[0] == found[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("none.py",), "the file of kernels must be there (got none.py)"),
        (("FILE:gone",), "the program has the kernels total, unused (got 'gone')"),
        (("FILE:totl",), "did you mean total?"),
        (("FILE", "copy"), "a file of kernels must be named alone"),
        (("FILE", "--op", "sum"), "a program with kernels takes no --op (got sum); leave it out"),
        (
            ("./program", "x"),
            "a program must stand after -- (got './program'); write kumihimo tune kernel -- ./program x",
        ),
        (("FILE", "--size", "9" * 5000), "--size must be whole numbers of trips such as 100,1000, each at most"),
        (("FILE", "--search", "all"), "--search must be one of exhaustive, random, bayesian (got 'all')"),
        (
            ("FILE", "--size", "8,x"),
            "--size must be whole numbers of trips such as 100,1000, each at most 1099511627776 (got 'x')",
        ),
        (("copy", "--size", "8"), "a kernel of this project takes no --size (got 8); leave it out"),
        (("copy", "--", "true"), "nothing but options may stand before -- (got copy)"),
        (("--",), "the program after -- is missing; write kumihimo tune kernel -- ./program"),
        (("--", "./none"), "the program ./none did not start: No such file or directory"),
        (("--", "true"), "the program true ended the process with exit code 0 before it called a kernel"),
    ],
)
def test_wrong_words_are_one_sentence(kumihimo, file_of, words, said):
    path = file_of(FILE)
    ended = kumihimo("tune", "kernel", *(word.replace("FILE", str(path)) for word in words))
    assert ended.code in (1, 2) and not ended.out
    assert said in ended.err and ended.err.count("\n") == 1, ended.err


def test_a_file_that_fails_says_why(kumihimo, file_of):
    path = file_of("from kumihimo.kernel import kernel\nkernel(lambda x: x, name='k', hint='fastest')\n")
    ended = kumihimo("tune", "kernel", str(path))
    assert ended.code == 2
    assert "kumihimo: a hint must be one of" in ended.err
    empty = file_of("x = 1\n", "empty.py")
    ended = kumihimo("tune", "kernel", str(empty))
    assert ended.code == 2 and "a kernel is missing; declare one (docs/guides/tune-your-kernel.md)" in ended.err


def test_a_python_program_after_the_dashes(kumihimo, file_of):
    path = file_of(FILE)
    ended = kumihimo("tune", "kernel", "--kernel", "total", "--size", "8", "--json", "--", sys.executable, str(path))
    assert json.loads(ended.out)["results"][0]["chosen"]["variant"] == "quick"


def test_modules_in_the_current_folder_are_not_ours(file_of, monkeypatch, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("colorsys", "json", "argparse", "dataclasses"):
        (elsewhere / f"{name}.py").write_text("raise SystemExit('a module of the current folder')")
    path = file_of(FILE.replace("import os,", "import colorsys, os,"))
    with Session(session.of_file(str(path)).command) as program:
        monkeypatch.chdir(elsewhere)
        assert [kernel["name"] for kernel in program.listing()["kernels"]] == ["total", "unused"]


def test_a_wrong_value_in_the_file_ends_with_2(kumihimo, file_of):
    ended = kumihimo(
        "tune", "kernel", str(file_of("from kumihimo.kernel import kernel\nkernel(len, hint='0 trips')\n"))
    )
    assert ended.code == 2 and "trips in a hint must be at least 1 (got '0 trips')" in ended.err


def test_a_program_must_call_a_kernel_within_the_budget(kumihimo):
    began = time.monotonic()
    ended = kumihimo("tune", "kernel", "--budget", "2s", "--", "yes")
    assert ended.code == 1 and "did not return within 2 s before it called a kernel" in ended.err
    assert time.monotonic() - began < 60


def test_the_folder_is_checked_before_measuring_and_results_are_shown(kumihimo, file_of, tmp_path):
    path = file_of(FILE)
    data = tmp_path / "data"
    data.mkdir(exist_ok=True)
    (data / "kumihimo").write_text("a file")
    ended = kumihimo("tune", "kernel", f"{path}:total")
    assert ended.code == 2 and "the folder of kernel wisdom must be writable" in ended.err and not ended.out
    (data / "kumihimo").unlink()
    (data / "kumihimo" / "wisdom" / "kernels" / "total.lock").mkdir(parents=True)  # found only when it writes
    ended = kumihimo("tune", "kernel", f"{path}:total", "--size", "8")
    assert ended.code == 1 and "Choices that could not be written:" in ended.out and "quick" in ended.out


def test_a_child_that_python_starts_before_the_first_kernel(file_of):
    program = file_of(FILE.replace('if __name__ == "__main__":', START_A_CHILD))
    with Session([sys.executable, str(program)]) as running:
        assert [kernel["name"] for kernel in running.listing()["kernels"]] == ["total", "unused"]


START_A_CHILD = """
if __name__ == "__main__" and len(sys.argv) == 1:
    import subprocess
    done = subprocess.run([sys.executable, __file__, "child"], capture_output=True, text=True)
    assert done.stdout == "8.0\\n", done
if __name__ == "__main__":
"""
