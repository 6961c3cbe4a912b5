"""kumihimo/remote_memory.h as a program of C sees it, without MPI."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from remote_memory_programs import PROVIDERS, STRICT
from waiting import PATIENCE

HERE = Path(__file__).parent
SHARED = Path("/dev/shm")


def run(*line: object) -> subprocess.CompletedProcess:
    return subprocess.run(list(map(str, line)), capture_output=True, text=True, timeout=120 * PATIENCE, check=False)


@pytest.mark.parametrize("words", [("cc", "-std=c99", "c"), ("c++", "-std=c++17", "c++"), ("c++", "-std=c++20", "c++")])
def test_the_headers_need_nothing(options, tmp_path, words) -> None:
    compiler, standard, language = words
    header = "remote_memory.h" if language == "c" else "remote_memory.hpp"
    source = tmp_path / "empty"
    source.write_text(f"#include <kumihimo/{header}>\nint main(void) {{ return 0; }}\n", encoding="utf-8")
    ended = run(compiler, standard, "-x", language, *STRICT, source, "-o", tmp_path / "program", *options)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("ranks", [3, 5])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_rank_that_dies_is_named_and_the_others_go_on(options, tmp_path, provider: str, ranks: int) -> None:
    program, last = tmp_path / "forked", ranks - 1
    line = ["cc", *STRICT, f"-DRANKS={ranks}", HERE / "forked.c", "-o", program, *options, "-lpthread"]
    subprocess.run(line, check=True)
    before = set(SHARED.iterdir())
    ended = run(program, f"provider={provider}")
    assert ended.returncode == 0, ended
    for rank in range(last):
        assert f"rank {rank}: rank {last} cannot be reached over {provider}: " in ended.stdout, ended
        assert f"rank {rank} has ended\n" in ended.stdout, ended
    if provider != "shm":
        return
    regions = [path.name for path in set(SHARED.iterdir()) - before if path.name.count(":") == 2]  # PID:UID:INDEX
    assert not [name for name in regions if not Path("/proc", name.split(":")[0]).exists()]


MISTAKES = r"""
#include <kumihimo/remote_memory.h>
#include <stdio.h>
#include <string.h>
static int self(const void* mine, void* all, size_t bytes, void* none) {
  (void)none;
  memcpy(all, mine, bytes);
  return 0;
}
static int broken(const void* mine, void* all, size_t bytes, void* none) {
  (void)none, (void)mine, (void)all, (void)bytes;
  return 7;
}
#define SAY(call) do { printf("%d ", call); puts(kumihimo_rma_error()); } while (0)
int main(void) {
  kumihimo_rma* rma = NULL;
  kumihimo_rma_key key;
  int64_t memory = 0, old = 0;
  memset(&key, 0, sizeof key);
  SAY(kumihimo_rma_open(0, 1, NULL, NULL, NULL, &rma));
  SAY(kumihimo_rma_open(0, 1, self, NULL, NULL, NULL));
  SAY(kumihimo_rma_open(1, 1, self, NULL, NULL, &rma));
  SAY(kumihimo_rma_open(0, 1, broken, NULL, NULL, &rma));
  SAY(kumihimo_rma_open(0, 1, self, NULL, "fast", &rma));
  SAY(kumihimo_rma_open(0, 1, self, NULL, "speed=9", &rma));
  SAY(kumihimo_rma_open(0, 1, self, NULL, "engines=5", &rma));
  SAY(kumihimo_rma_open(0, 1, self, NULL, "provider=pigeons", &rma));
  SAY(kumihimo_rma_progress(rma));
  SAY(kumihimo_rma_open(0, 1, self, NULL, "provider=net atomics=1", &rma));
  SAY(kumihimo_rma_put(rma, &memory, 8, &key, 0, NULL));
  SAY(kumihimo_rma_register(rma, &memory, 8, &key));
  SAY(kumihimo_rma_put(rma, &memory, 9, &key, 0, NULL));
  SAY(kumihimo_rma_fetch_add(rma, &key, 0, 1, &old, NULL));
  SAY(kumihimo_rma_wait(rma, NULL, 1));
  SAY(kumihimo_rma_wait_flag(rma, 0, 1, 0, 0.01));
  SAY(kumihimo_rma_close(rma, 1));
  SAY(kumihimo_rma_close(NULL, 1));
  return 0;
}
"""

SAID = (
    "1 the exchange between the ranks needs an address (got a null pointer)",
    "1 the result of kumihimo_rma_open needs an address (got a null pointer)",
    "1 the rank must be from 0 to the number of ranks - 1 (got rank 1 of 1)",
    "5 the program's exchange between the ranks failed: it returned 7",
    "1 options of remote memory must be words NAME=VALUE (got 'fast')",
    "1 options of remote memory are provider, engines, rails, atomics and progress (got 'speed'); leave it out",
    "1 engines must be a number from 1 to 4 (got '5')",
    "2 the provider pigeons of libfabric has no puts to remote memory here; ",
    "1 remote memory must be open (got a null pointer); call kumihimo_rma_open before",
    "0 ",
    "1 the key must be one that kumihimo_rma_register or kumihimo_rma_allocate has made (got other bytes)",
    "0 ",
    "1 an access must lie within the 8 bytes that rank 0 has registered (got 9 bytes at 0)",
    "2 the provider net has no fetch-add and compare-and-swap of 64-bit integers; name another provider",
    "1 a wait for a completion needs an address (got a null pointer)",
    "3 flag 0 has been put 0 of 1 times: the wait did not end within 0.01 s",
    "0 ",
    "0 ",
)


def test_mistakes_are_one_sentence_each(options, tmp_path) -> None:
    source, program = tmp_path / "mistakes.c", tmp_path / "mistakes"
    source.write_text(MISTAKES, encoding="utf-8")
    subprocess.run(["cc", source, "-o", program, *options], check=True)
    ended = run(program)
    assert ended.returncode == 0, ended
    lines = ended.stdout.splitlines()
    assert len(lines) == len(SAID), lines
    for line, wanted in zip(lines, SAID):
        assert line.startswith(wanted) if wanted.strip("0 ") else line == wanted, (line, wanted)


def test_the_module_knows_no_other_arguments() -> None:
    ended = run(sys.executable, "-m", "kumihimo.remote_memory", "--help")
    assert ended.returncode == 1
    assert ended.stderr.strip() == "kumihimo: python3 -m kumihimo.remote_memory takes --man or nothing (got --help)"
