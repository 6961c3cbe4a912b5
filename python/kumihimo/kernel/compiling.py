"""The system's C and C++ compilers, for generated sources."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from kumihimo.kernel import identity
from kumihimo.kernel.vectorisation.compiler import CompilerProcesses
from kumihimo.processes import child_output
from kumihimo.text.errors import Failed, failed, wrong_value

FLAGS = ("-O3", "-march=native", "-fopenmp-simd", "-fPIC", "-shared", "-w")
LANGUAGES = {
    "c": ("CC", ("cc", "gcc", "clang"), "-std=gnu11", ".c"),
    "c++": ("CXX", ("c++", "g++", "clang++"), "-std=gnu++17", ".cpp"),
}
SECONDS = 120


@dataclass(frozen=True)
class KernelCompiler:
    command: str
    version: str  # first line of --version
    flags: tuple[str, ...]
    suffix: str

    def compile(self, text: str, folder: Path) -> Path:
        """The shared library of the text, made once. Its name differs between machines: -march=native does too. Failed:
        the first error of the compiler."""
        parts = (text, self.version, *self.flags, *map(str, identity.this_machine().values()))
        key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]
        made = folder / f"{key}.so"
        if made.exists():
            return made
        source, new = folder / f"{key}{self.suffix}", folder / f"{key}.new"
        source.write_text(text, encoding="utf-8")
        words = [self.command, *self.flags, str(source), "-o", str(new), "-lm"]
        try:
            done = CompilerProcesses().run(words, seconds=SECONDS)
        except Failed:
            raise failed("the generated source does not compile", f"{self.command} takes over {SECONDS} s") from None
        if done.returncode:
            lines = done.stderr.replace(str(source), source.name).strip().splitlines()
            first = next((line for line in lines if "error" in line), lines[0] if lines else "no message")
            raise failed("the generated source does not compile", " ".join(first.split())[:200])
        new.replace(made)
        return made


def words_of(variable: str) -> list[str]:
    text = os.environ.get(variable, "")
    try:
        return shlex.split(text)
    except ValueError:
        raise wrong_value(f"{variable} must be a command line", f"'{text}'", "close its quotes") from None


def find(language: str) -> KernelCompiler:
    """Compiler named by CC or CXX, which may have arguments, or the usual names. Failed: there is none. BadInput: CC
    names none.
    """
    variable, names, standard, suffix = LANGUAGES[language]
    configured = words_of(variable)
    for name, *arguments in [configured] if configured else [[name] for name in names]:
        path = shutil.which(name)
        if path:
            words = [path, *arguments, "--version"]
            done = child_output.run(words)
            version = (done.stdout.splitlines() or [name])[0]
            return KernelCompiler(path, version, (*arguments, *FLAGS, standard), suffix)
    if configured:
        raise wrong_value(f"{variable} must name a compiler", f"'{configured[0]}'", "correct or unset it")
    raise failed(
        f"there is no compiler for {language.upper()} ({', '.join(names)})", "", f"install one, or set {variable}"
    )
