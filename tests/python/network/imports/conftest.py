"""Imports of machine files, by the command and without it."""

from __future__ import annotations

import json

import pytest

from kumihimo.cli import machines
from kumihimo.network import imports
from kumihimo.text.errors import BadInput


@pytest.fixture
def imported(kumihimo, tmp_path):
    """What `machine show` says of a file's machine, or the sentence that refuses it."""

    def run(name: str, text: str, like: str = "reedbush-u"):
        path, made = tmp_path / name, tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        ended = kumihimo("machine", "import", str(path), "--like", like, "--out", str(made))
        if ended.code:
            assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
            return ended.err
        lines = made.read_text(encoding="utf-8").splitlines()
        assumed = sum("{" in line and "assumed" in line for line in lines)
        assert (ended.out, ended.err) == (f"wrote {made}; assumed numbers to check: {assumed}\n", "")
        return json.loads(kumihimo("machine", "show", str(made), "--json").out)

    return run


@pytest.fixture
def refused(tmp_path):
    """The sentence that refuses a file, without the command around it."""

    def run(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        with pytest.raises(BadInput) as caught:
            imports.machine_file(imports.read(path), machines.load("reedbush-u"), "mine", name)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return run


@pytest.fixture
def made(tmp_path):
    """The text of the machine file that was imported."""
    return lambda: (tmp_path / "mine.toml").read_text(encoding="utf-8")
