"""The page of error sentences (tests/errors/error_page.py), and that C++ and Python list theirs."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest


@pytest.fixture
def error_page(repository):
    path = repository / "tests/errors/error_page.py"
    spec = importlib.util.spec_from_file_location("error_page", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "sentence",
    [
        "a root below 8, found 9",
        "expected a root below 8",
        "the root must be below 8 (got )",
        "the root must be below 8;",
        "The root must be below 8",
        "the root must must be below 8",
        " ".join(f"word{i}" for i in range(70)),
        f"the root must be below 8 (got '{'9' * 1000}')",
    ],
)
def test_a_sentence_that_breaks_the_rules_fails(error_page, tmp_path, sentence):
    (tmp_path / "list").write_text(f"bad_input\t{sentence}\n")
    assert error_page.main(tmp_path / "list", tmp_path / "page") == 1


def test_folders_of_tests_are_left_out(error_page, tmp_path):
    folder = "/tmp/pytest-of-me/pytest-3/popen-gw1/test_name0"
    lines = [f"the file must be JSON (got {folder}/a.json)", f"{folder}/b must be a file (got {folder}, a folder)"]
    (tmp_path / "list").write_text("".join(f"bad_input\t{line}\n" for line in lines))
    assert error_page.main(tmp_path / "list", tmp_path / "page") == 0
    page = (tmp_path / "page").read_text()
    assert "(got a.json)" in page and "- b must be a file (got FOLDER, a folder)" in page and "/tmp" not in page


def test_an_empty_list_fails(error_page, tmp_path):
    (tmp_path / "list").write_text("")
    assert error_page.main(tmp_path / "list", tmp_path / "page") == 1


def test_sentences_that_differ_in_values_alone_stand_once(error_page, tmp_path):
    lines = [
        "the buffer's root is 0 to 7 (got '2 2 end')",
        "the root is 0 to 7 (got 9)",
        "the root is 0 to 3 (got 'expected, found ')",
        "unknown type 'a'; use b",
    ]
    (tmp_path / "list").write_text("".join(f"bad_input\t{line}\n" for line in [*lines, lines[0]]))
    assert error_page.main(tmp_path / "list", tmp_path / "page") == 0
    assert (tmp_path / "page").read_text().count("\n- ") == 3


def test_errors_of_both_languages_are_listed(repository, tmp_path):
    file = tmp_path / "list"
    provoke = (
        "from kumihimo import _topology\nfrom kumihimo.text import errors\n"
        "errors.missing('a', 'add it')\n_topology.Shape.parse('4x')"
    )
    path = repository / "tests/errors/python"
    environment = {**os.environ, "KUMIHIMO_ERROR_LIST": str(file), "PYTHONPATH": str(path)}
    subprocess.run([sys.executable, "-c", provoke], env=environment, check=False, capture_output=True)
    first, second = file.read_text().splitlines()
    assert first == "bad_input\ta is missing; add it"
    assert second.startswith("bad_input\ta shape is")
