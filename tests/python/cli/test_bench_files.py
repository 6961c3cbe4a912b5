"""`kumihimo bench files` and `bench checkpoint` as a user runs them: on real ranks, on storage that fails, killed, and
with wrong arguments."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from waiting import until

from kumihimo.processes import mpi
from kumihimo.text import schema
from kumihimo.tune.bench.job import Launcher
from kumihimo.tune.file_bench import job, leftovers, rates
from kumihimo.tune.file_bench.cases import DataSet, FileSteps

FAMILIES = [installation.family for installation in mpi.discover()]
pytestmark = [pytest.mark.mpi, pytest.mark.skipif(not FAMILIES, reason="no MPI library on this machine")]
COMMAND = Path(sys.executable).parent / "kumihimo"
SMALL = ("--ranks", "2", "-i", "1", "--items", "20", "--block", "1MiB", "--transfer", "256KiB")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The folder that is measured."""
    folder = tmp_path / "measured"
    folder.mkdir()
    return folder


def found(ended) -> dict:
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


@pytest.mark.parametrize("family", FAMILIES)
def test_all_interfaces_and_layouts(kumihimo, here, family):
    asked = ("--api", "posix,mpiio,mpiio-collective", "--segments", "3", "--mpi", family)
    result = found(kumihimo("bench", "files", str(here), *SMALL, *asked, "--json"))
    assert schema.fault(result, "files") == ""
    kinds = {(row["api"], row["layout"], row["operation"]) for row in result["bandwidth"]}
    assert len(kinds) == len(result["bandwidth"]) == 2 * 5
    for row in result["bandwidth"]:
        assert row["bytes"] == 2 * 3 << 20 and row["bytes_per_second"]["median"] > 0
    operations = {(row["kind"], row["one_folder"], row["operation"]) for row in result["metadata"]}
    assert len(operations) == len(result["metadata"]) == 2 * (6 + 7)
    assert {row["items"] for row in result["metadata"] if row["operation"] == "stat"} == {40}
    assert result["differences"] == [] and list(here.iterdir()) == []


def test_direct_reads_and_shifts(kumihimo, here):
    result = found(kumihimo("bench", "files", str(here), *SMALL, "--cache", "direct", "--shift", "1", "--json"))
    if result["notes"] or result["in_memory"]:
        pytest.skip("a file system without O_DIRECT, or in memory")
    assert {row["why"] for row in result["bandwidth"]} == {"O_DIRECT"}
    assert {row["shift"] for row in result["bandwidth"] if row["operation"] == "read"} == {1}
    assert all(row["of_roof"] > 0 for row in result["bandwidth"])


def test_a_cached_read_is_the_memorys(kumihimo, here):
    asked = ("--parts", "bandwidth", "--cache", "keep", "--layout", "each")
    result = found(kumihimo("bench", "files", str(here), *SMALL, *asked, "--json"))
    (read,) = [row for row in result["bandwidth"] if row["operation"] == "read"]
    assert read["source"] == "memory" and "of_roof" not in read
    ended = kumihimo("bench", "files", str(here), *SMALL, *asked[2:], "--form", "ior")
    assert "is the memory's rate, not the file system's" in ended.out
    assert re.findall(r"^read ", ended.out, re.MULTILINE) == []


def test_a_stonewall_carries_what_was_made(kumihimo, here):
    """Both ranks make as many items and bytes as the faster one; the phases after it take these."""
    asked = ("--items", "1000000", "--folders", "one", "--block", "8GiB", "--layout", "each", "--stonewall", "0.2s")
    free = shutil.disk_usage(here).free
    if free < 30 << 30:
        pytest.skip("less than 30 GiB are free")
    result = found(kumihimo("bench", "files", str(here), *SMALL, *asked, "--json"))
    made = {row["operation"]: row for row in result["metadata"] if row["kind"] == "files"}
    assert 0 < made["create"]["items"] < 2_000_000
    assert {made[word]["items"] for word in ("stat", "read", "rename", "remove")} == {made["create"]["items"]}
    write, read = result["bandwidth"]
    assert write["bytes"] == read["bytes"] and write["bytes"] < 16 << 30
    assert 0 < write["iterations"][0]["bytes_at_limit"] <= write["bytes"]
    assert list(here.iterdir()) == []


DATA = DataSet("a", shared=False, transfer=1 << 16, block=1 << 18, shift=1)


@pytest.mark.parametrize("shared", [False, True])
def test_a_flipped_byte_is_found_with_its_place(here, shared):
    """Sabotage between a launch that writes and one that reads."""
    data = DataSet("a", shared=shared, transfer=1 << 16, block=1 << 18, shift=1)
    launcher = Launcher(2, mpi.choose())
    job.run(here, FileSteps((data,), (), ({"do": "write", "data": "a"},)), launcher, existing=here)
    read = FileSteps((data,), (), ({"do": "read", "data": "a"},))
    assert rates.differences_of(job.run(here, read, launcher, existing=here)) == []
    place = 100_001  # of rank 1's bytes in the shared file 262,144 more
    path = here / ("data-a" if shared else "data-a.1")
    offset = place + (1 << 18) * shared
    content = bytearray(path.read_bytes())
    content[offset] ^= 0x40
    path.write_bytes(content)
    (wrong,) = rates.differences_of(job.run(here, read, launcher, existing=here))
    assert (wrong["rank"], wrong["file"], wrong["offset"]) == (0, path.name, offset)
    assert wrong["expected"] ^ wrong["found"] == 0x40
    assert f"{path.name} differs at byte {offset}: expected 0x" in rates.difference_text(wrong)


def test_bytes_at_another_place_are_found(here):
    """Two transfers that changed places are wrong, although all bytes are there."""
    launcher = Launcher(2, mpi.choose())
    job.run(here, FileSteps((DATA,), (), ({"do": "write", "data": "a"},)), launcher, existing=here)
    path = here / "data-a.0"
    content = path.read_bytes()
    path.write_bytes(content[1 << 16 : 1 << 17] + content[: 1 << 16] + content[1 << 17 :])
    read = FileSteps((DATA,), (), ({"do": "read", "data": "a"},))
    (wrong,) = rates.differences_of(job.run(here, read, launcher, existing=here))
    assert (wrong["file"], wrong["transfers"]) == ("data-a.0", 2)
    assert wrong["offset"] < 8, "in the first word"


def started(here: Path, *asked: str) -> subprocess.Popen:
    words = [COMMAND, "bench", "files", here, "--ranks", "2", "-i", "1000", *asked]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: list(here.glob("kumihimo-files-*/data-*")), "there are files", process)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing(here, number):
    taken = []
    while not taken or (min(taken) > 2 and len(taken) < 3):  # other programs may hold a processor for a while
        process = started(here, "--items", "50", "--block", "16MiB")
        begin = time.monotonic()
        process.send_signal(number)
        process.communicate(timeout=120)
        taken.append(time.monotonic() - begin)
        assert process.returncode != 0 and list(here.iterdir()) == []
    assert min(taken) <= 2, taken


def test_after_a_kill_the_next_run_removes_what_is_left(kumihimo, here):
    process = started(here, "--items", "50", "--block", "16MiB")
    (folder,) = here.glob("kumihimo-files-*")
    owner = leftovers.owner_of(folder)
    process.kill()
    process.communicate(timeout=120)
    if leftovers.is_alive(owner["pid"], owner["start"]):
        os.kill(owner["pid"], signal.SIGKILL)  # a rank may outlive the command, as long as its launcher lives
    until(lambda: not leftovers.is_alive(owner["pid"], owner["start"]), "the rank is dead")
    assert folder.exists()
    (here / "mine.txt").write_text("precious", encoding="utf-8")
    found(kumihimo("bench", "files", str(here), *SMALL, "--parts", "metadata", "--json"))
    assert [path.name for path in here.iterdir()] == ["mine.txt"]


@pytest.fixture(scope="module")
def bad_storage(tmp_path_factory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    made = tmp_path_factory.mktemp("storage") / "bad_storage.so"
    source = Path(__file__).parents[1] / "storage" / "bad_storage.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl"], check=True, timeout=60)
    return made


@pytest.mark.parametrize(
    "fault, asked, sentence",
    [
        ("full:400000", (), "cannot be written at byte .*: No space left on device; make space"),
        ("quota:400000", (), "cannot be written at byte .*: Disk quota exceeded; remove files of yours"),
        ("io:400000", (), "cannot be written at byte .*: Input/output error; check the file system"),
        ("sync:0", (), "Input/output error"),
        ("read-only:0", (), "FOLDER must be a folder that can be written to .*; name a folder that you can write to"),
        ("no-direct:0", ("--cache", "direct"), "this file system has no O_DIRECT; use --cache evict"),
    ],
)
def test_bad_storage_is_one_sentence(kumihimo, here, bad_storage, fault, asked, sentence):
    bad = {"LD_PRELOAD": str(bad_storage), "BAD_STORAGE_AT": str(here), "BAD_STORAGE": fault}
    ended = kumihimo("bench", "files", str(here), *SMALL, "--parts", "bandwidth", *asked, env={**os.environ, **bad})
    assert ended.code != 0 and ended.out == ""
    said = [line for line in ended.err.splitlines() if "measuring" not in line]
    assert len(said) == 1 and re.search(sentence, said[0]), ended.err
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("api", ["posix", "mpiio"])
def test_a_limit_of_a_files_size_is_one_sentence(here, api):
    asked = ("--parts", "bandwidth", "--block", "128MiB", "--layout", "each", "--api", api)
    words = (COMMAND, "bench", "files", here, *SMALL, *asked)
    done = subprocess.run(["prlimit", f"--fsize={64 << 20}", *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and done.stdout == ""
    sentence = r"cannot be written at byte \d+: File too large; raise the limit of a file's size \(ulimit -f\)"
    said = [line for line in done.stderr.splitlines() if "measuring" not in line]
    assert len(said) == 1 and re.search(sentence, said[0]), done.stderr
    assert list(here.iterdir()) == []


def test_without_o_direct_there_is_no_roof_but_all_else(kumihimo, here, bad_storage):
    bad = {"LD_PRELOAD": str(bad_storage), "BAD_STORAGE_AT": str(here), "BAD_STORAGE": "no-direct:0"}
    ended = kumihimo("bench", "files", str(here), *SMALL, "--parts", "bandwidth", env={**os.environ, **bad})
    assert ended.code == 0, ended.err
    assert "no roof: " in ended.out and "has no O_DIRECT" in ended.out


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
@pytest.mark.parametrize(
    "how, sentence",
    [
        ("size=2m", "the measurement must fit in 1.8 MiB, 90% of the free space"),
        ("size=1g,nr_inodes=30", "the measurement must make at most"),
        ("ro", "Read-only file system); name a folder that you can write to"),
    ],
)
def test_a_file_system_without_room_is_refused(here, how, sentence):
    script = f"mount -t tmpfs -o {how} none {here} && exec {COMMAND} bench files {here} {' '.join(SMALL)}"
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, timeout=120)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip("no mounts here")
    assert done.returncode == 2 and done.stdout == ""
    assert sentence in done.stderr


def test_a_missing_library_is_one_sentence(kumihimo, here):
    ended = kumihimo(
        *("bench", "files", str(here), *SMALL, "--parts", "bandwidth", "--layout", "each"),
        *("--api", "hdf5", "--hdf5", "/no/such.so"),
    )
    assert ended.code == 2 and "/no/such.so is no HDF5 library; install one, or name it with --hdf5" in ended.err


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (("--parts", "metadat"), "--parts must list some of metadata, bandwidth (got 'metadat'); did you mean"),
        (("--form", "iorr"), "--form must be one of table, json, ior, mdtest, io500 (got 'iorr'); did you mean ior?"),
        (("--form", "ior", "--json"), "--json excludes other forms (got --form ior)"),
        (("--form", "io500", "--items", "3"), "--form io500 takes no --items (got 3); leave it out"),
        (("--form", "ior", "--parts", "metadata"), "--form ior shows the part bandwidth alone"),
        (("--api", "posix,mpi"), "--api must list some of posix, mpiio"),
        (("--layout", "all"), "--layout must list some of each, shared"),
        (("--api", "mpiio-collective", "--layout", "each"), "collective calls need a shared file"),
        (("--cache", "none"), "--cache must be evict, drop, direct or keep (got 'none')"),
        (("--cache", "direct", "--transfer", "1000", "--block", "1000"), "--transfer must be several times 4096 B"),
        (("--cache", "direct", "--api", "mpiio"), "--cache direct is for the interface posix alone"),
        (("--api", "mpiio-collective", "--layout", "shared", "--stonewall", "1s"), "collective calls take no --stonew"),
        (("--transfer", "3MiB"), "--block must be several times --transfer (got 64MiB and 3MiB)"),
        (("--transfer", "2GiB", "--block", "2GiB"), "--transfer must be at most 1 GiB (got 2GiB)"),
        (("--block", "0"), "a size must be at least 1 byte (got '0')"),
        (("--segments", "0"), "--segments must be at least 1 (got 0)"),
        (("--items", "0"), "--items must be from 1 to 10000000 (got 0)"),
        (("--iterations", "0"), "--iterations must be from 1 to 1000 (got 0)"),
        (("--ranks", "2", "--shift", "2"), "--shift must be from 0 to 1, the ranks - 1 (got 2)"),
        (("--hint", "cb_nodes"), "--hint must be NAME=VALUE, such as cb_nodes=4 (got 'cb_nodes')"),
        (("--block", "1EiB"), "the measurement must fit in"),
        (("--seed", "-1"), "--seed must be at least 0 (got -1)"),
    ],
)
def test_wrong_arguments_are_named(kumihimo, here, arguments, sentence):
    ended = kumihimo("bench", "files", str(here), *arguments)
    assert (ended.code, ended.out) == (2, ""), ended.err
    assert sentence in ended.err


def test_folders_that_cannot_be_measured(kumihimo, tmp_path):
    for folder, reason in ((tmp_path / "none", "No such file"), (Path(__file__), "Not a directory")):
        for verb in ("files", "checkpoint"):
            ended = kumihimo("bench", verb, str(folder))
            assert ended.code == 2 and "FOLDER must be a folder that can be written to" in ended.err
            assert reason in ended.err


# --- bench checkpoint


def test_the_cost_of_a_state_feeds_checkpoint(kumihimo, here, tmp_path):
    out = tmp_path / "cost.json"
    sizes = ("--bytes", "64KiB,1MiB,4MiB", "--ranks", "1,2", "-i", "3")
    result = found(kumihimo("bench", "checkpoint", str(here), *sizes, "--output", str(out), "--json"))
    assert list(here.iterdir()) == []
    written = json.loads(out.read_text(encoding="utf-8"))
    assert schema.fault(written, "state-cost") == "" and written["results"] == result["results"]
    assert [row["ranks"] for row in written["results"]] == [1, 2]
    for row in written["results"]:
        assert [point["bytes"] for point in row["points"]] == [row["ranks"] * size << 10 for size in (64, 1024, 4096)]
        for point in row["points"]:  # one rank has no partner
            assert ("partner" in point) == (row["ranks"] > 1)
            if "partner" in point:
                assert point["partner"]["copy"]["median"] > 0 and point["partner"]["restore"]["median"] > 0
                assert point["partner"]["on_other_nodes"] == 0
    law = {"fixed_seconds": 2.0, "bytes_per_second": 1e9, "source": "storage"}
    rows = [
        {"ranks": 1, "nodes": 1, "save": {**law, "bytes_per_second": 1e8}, "load": law},
        {"ranks": 4, "nodes": 2, "save": law, "load": {**law, "fixed_seconds": 1.0}},
    ]
    asked = ("checkpoint", "24h", "--nodes", "2", "--node-mtbf", "30d", "--checkpoint-bytes", "5GB", "--json")
    out.write_text(json.dumps({"form": "kumihimo-state-cost-1", "results": rows}), encoding="utf-8")
    (by_law,) = found(kumihimo(*asked, "--measured", str(out)))["results"]
    assert by_law["checkpoint_seconds"] == pytest.approx(2 + 10), "of the most ranks"
    assert by_law["restart_seconds"] == pytest.approx(1 + 10)
    assert (by_law["measured"]["ranks"], by_law["measured"]["nodes"]) == (4, 2)
    (given,) = found(kumihimo(*asked, "--measured", str(out), "--restart", "7s"))["results"]
    assert given["restart_seconds"] == 7
    rows[1]["load"]["source"] = "memory"
    out.write_text(json.dumps({"form": "kumihimo-state-cost-1", "results": rows}), encoding="utf-8")
    (cached,) = found(kumihimo(*asked, "--measured", str(out)))["results"]
    assert cached["restart_seconds"] == cached["checkpoint_seconds"]


def test_measured_costs_that_are_none(kumihimo, tmp_path):
    path = tmp_path / "cost.json"
    law = {"fixed_seconds": 2.0, "bytes_per_second": 1e9, "source": "memory"}
    row = {"ranks": 1, "nodes": 1, "save": law, "load": law}
    texts = {
        "{": "must be JSON",
        "{}": "must have costs of saved states",
        json.dumps({"form": "kumihimo-state-cost-1", "results": [row]}): "they were saved in memory",
    }
    asked = ("checkpoint", "24h", "--nodes", "2", "--node-mtbf", "30d", "--measured", str(path))
    for text, sentence in texts.items():
        path.write_text(text, encoding="utf-8")
        ended = kumihimo(*asked, "--checkpoint-bytes", "1GiB")
        assert ended.code == 2 and sentence in ended.err, ended.err
    assert "the size of a checkpoint is missing" in kumihimo(*asked).err
    for other in (("--checkpoint", "9s"), ("--storage-bandwidth", "1GB/s")):
        assert f"--measured excludes {other[0]}" in kumihimo(*asked, *other).err


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (("--cache", "direct"), "--cache must be evict or keep (got 'direct')"),
        (("--ranks", "0"), "--ranks must be numbers from 1 on, such as 1,2,4 (got '0')"),
        (("--ranks", "1,,2"), "--ranks must be numbers from 1 on"),
        (("--bytes", "1EiB"), "the measurement must fit in"),
        (("--iterations", "0"), "--iterations must be from 1 to 1000 (got 0)"),
    ],
)
def test_wrong_arguments_of_checkpoint_are_named(kumihimo, here, arguments, sentence):
    ended = kumihimo("bench", "checkpoint", str(here), *arguments)
    assert (ended.code, ended.out) == (2, ""), ended.err
    assert sentence in ended.err
