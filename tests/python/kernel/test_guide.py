"""docs/guides/tune-your-kernel.md: its code is that of the example files, and these work."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def guide(repository) -> str:
    return (repository / "docs" / "guides" / "tune-your-kernel.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("language", "file"), [("python", "dot.py"), ("cpp", "dot.cpp")])
def test_its_code_is_in_the_examples(guide, repository, language, file):
    source = (repository / "docs" / "guides" / "kernels" / file).read_text(encoding="utf-8")
    blocks = re.findall(rf"```{language}\n(.*?)```", guide, re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        assert block in source


def check(found: dict) -> None:
    (decision,) = found["results"]
    assert decision["check"] == "within 2 gamma_n M, gamma_n = 2.22e-14"
    (wrong,) = found["wrong"]
    assert wrong.startswith("dot: short: size 100, seed 0, random input: ")
    assert "beyond the bound" in wrong and not found["left_untuned"]


def test_the_python_example(kumihimo, repository):
    file = repository / "docs" / "guides" / "kernels" / "dot.py"
    before = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True).stdout
    ended = kumihimo("tune", "kernel", str(file), "--size", "100", "--search", "exhaustive", "--budget", "3s", "--json")
    check(json.loads(ended.out))
    after = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True).stdout
    assert float(after) == pytest.approx(float(before), rel=1e-12)


@pytest.mark.skipif(not (shutil.which("g++") or shutil.which("c++")), reason="no C++ compiler")
def test_the_cpp_example(kumihimo, repository, compile_cpp, tmp_path):
    program = compile_cpp(repository / "docs" / "guides" / "kernels" / "dot.cpp", tmp_path / "dot")
    words = ("--size", "100", "--search", "exhaustive", "--budget", "3s", "--json")
    check(json.loads(kumihimo("tune", "kernel", *words, "--", str(program)).out))
    assert subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout == "3000\n"


def test_its_hints_are_hints(guide):
    from kumihimo.kernel.hints import parse

    rows = re.search(r"\| Level \| Hint .*?\n\n", guide, re.DOTALL).group(0)
    hints = [hint for hint in re.findall(r"`([^`]+)`", rows) if not hint.startswith(("...", "omp"))]
    assert len(hints) >= 11
    for hint in hints:
        parse(hint)
