"""Programs into which no object can be loaded, and words that only look like them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from kumihimo.run.preload_obstacles import obstacles, sentence


def compiled(path: Path, *options: str) -> Path:
    source = path.parent / "source.c"
    source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    if shutil.which("cc") is None or subprocess.run(["cc", *options, "-o", path, source], check=False).returncode != 0:
        pytest.skip("no compiler for this")
    path.chmod(0o755)  # as many systems install libraries too
    return path


def setuid(path: Path) -> Path:
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o4755)
    return path


@pytest.mark.parametrize("option", ["-static", "-static-pie"])
def test_static_programs_are_named_wherever_they_stand(tmp_path: Path, option: str) -> None:
    static, dynamic = compiled(tmp_path / "static", option), compiled(tmp_path / "dynamic")
    said = [f"{static} is statically linked"]
    assert obstacles(["mpirun", "-n", "2", str(static)]) == said
    assert obstacles(["mpirun", "-n", "2", "env", "A=b", str(static)]) == said
    assert obstacles(["mpirun", "-n", "1", str(dynamic), ":", "-n", "1", str(static), ":", str(static)]) == said
    assert obstacles(["mpirun", "--rankfile", str(static), "-n", "2", str(dynamic)]) == [], "the value of an option"
    assert obstacles(["srun", "-n", "2", str(static)]) == said
    (tmp_path / "file").write_text(f"0 {dynamic}\n1 {static}\n", encoding="utf-8")
    assert obstacles(["srun", "-n", "2", "--multi-prog", str(tmp_path / "file")]) == said
    assert str(static) in sentence(said)


def test_the_command_itself_may_be_one(tmp_path: Path) -> None:
    static, dynamic = compiled(tmp_path / "static", "-static"), compiled(tmp_path / "dynamic")
    assert obstacles([str(static), "-n", "3"]) == [f"{static} is statically linked"]
    assert obstacles([str(static), str(dynamic)]) == [], "a launcher hands its environment on"
    assert obstacles([str(static), str(static)]) == [f"{static} is statically linked"]
    assert obstacles([str(dynamic), "-n", "3"]) == []
    assert obstacles(["not-there"]) == []
    other = setuid(tmp_path / "program")
    for words in ([], [str(dynamic)]):  # nothing comes through it, either
        assert obstacles([str(other), *words]) == [f"{other} is setuid or setgid"]
    assert obstacles([str(setuid(tmp_path / "mpirun")), str(dynamic)]) == [], "gets our object as an argument"


@pytest.mark.parametrize("options", [(), ("-no-pie",), ("-shared", "-fPIC")])
def test_others_are_no_obstacles(tmp_path: Path, options: tuple[str, ...]) -> None:
    assert obstacles(["mpirun", str(compiled(tmp_path / "program", *options))]) == []


def test_what_is_no_program_is_no_obstacle(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    for content in (b"", b"\x7fELF\x02", b"\x7fELF\x02" + b"\xff" * 60):
        broken.write_bytes(content)
        broken.chmod(0o755)
        assert obstacles(["mpirun", str(broken), str(tmp_path), "not-there"]) == []


def test_setuid_programs_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = setuid(tmp_path / "program")
    assert obstacles(["mpirun", "-n", "2", str(program)]) == [f"{program} is setuid or setgid"]
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    said = ["program is setuid or setgid"]
    assert obstacles(["mpirun", "-n", "2", "program"]) == said
    assert obstacles(["mpirun", "--oversubscribe", "program"]) == said
    assert obstacles(["mpirun", "sh", ":", "program"]) == said
    assert obstacles(["mpirun", "-n", "2", "sh", "program"]) == [], "a word of the program"
