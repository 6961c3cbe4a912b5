"""scripts/check-words accepts the tree as it is and finds docstrings and comments that refer to the name above."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.fixture
def check(repository):
    def run(*words):
        line = [sys.executable, repository / "scripts" / "check-words", *words]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    return run


def written(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_the_checked_houses_follow_the_rule(check, repository):
    code, printed = check(repository)
    assert code == 0, printed
    assert "check-words: 0 wrong in checked houses" in printed


@pytest.mark.parametrize(
    "text",
    [
        '"""What a launcher does."""\n',
        'class Launcher:\n    """Of a launcher: its options."""\n',
        'def options():\n    """Those of a launcher."""\n',
        'async def options():\n    """By a launcher."""\n',
    ],
)
def test_a_docstring_that_refers_to_its_name_is_found(check, tmp_path, text):
    written(tmp_path, "python/kumihimo/text/wrong.py", text)
    code, printed = check(tmp_path)
    assert code == 1 and "python/kumihimo/text/wrong.py:" in printed


def test_other_words_and_houses_that_are_not_checked_are_accepted(check, tmp_path):
    written(tmp_path, "python/kumihimo/text/right.py", 'def f():\n    """Offers of a launcher."""\n')
    written(tmp_path, "src/later.hpp", "// Of a launcher.\nint f();\n// Options\n// of a launcher.\nint g();\n")
    assert check(tmp_path) == (0, "check-words: 0 wrong in checked houses, 1 in others\n")
    code, printed = check("--all", tmp_path)
    assert code == 0 and "src/later.hpp:1: // Of a launcher." in printed
