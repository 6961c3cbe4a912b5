"""What is installed from the package index is pinned, whoever installs it."""

from __future__ import annotations

import re

PINNED = re.compile(r"[A-Za-z0-9_.-]+==[0-9][0-9a-z.]*( --hash=sha256:[0-9a-f]{64})?( *;.*)?")


def test_every_requirement_names_one_version(repository):
    files = sorted((repository / "requirements").glob("*.txt"))
    assert len(files) >= 4
    for file in files:
        lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
        assert lines
        assert [line for line in lines if not PINNED.fullmatch(line)] == [], file.name


def test_nothing_tells_to_install_without_a_version(repository):
    told = [repository / name for name in ("CONTRIBUTING.md", "README.md", "Makefile")]
    told += [path for path in (repository / "scripts").iterdir() if path.is_file()]
    for file in told:
        for arguments in re.findall(r"pip install ([^`\n&|]*)", file.read_text()):
            assert "-r " in arguments or "--no-deps" in arguments, f"{file.name}: pip install {arguments}"


def test_the_tools_that_contributors_call_are_required(repository):
    text = "".join(path.read_text() for path in (repository / "requirements").glob("*.txt"))
    called = set(re.findall(r"\.venv/bin/([a-z-]+)", (repository / "CONTRIBUTING.md").read_text()))
    called |= set(re.findall(r"\.venv/bin/([a-z-]+)", (repository / ".pre-commit-config.yaml").read_text()))
    assert "pre-commit" in called
    for tool in called - {"kumihimo", "python"}:
        assert re.search(rf"^{tool}==", text, re.MULTILINE), tool
