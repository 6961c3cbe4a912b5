"""Programs of other people, as packaged: they find no difference between the MPI library and our schedules over it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kumihimo import mpi

COMMAND = Path(sys.executable).parent / "kumihimo"
HPCC = """benchmark
input
HPL.out
8
1
{n} Ns
1
40 NBs
0
1
1 Ps
{ranks} Qs
16.0
1
2
1
4
1
2
1
1
1
0
1
1
2
64
0
0
1
8
"""


@pytest.mark.long
@pytest.mark.mpi
@pytest.mark.skipif(shutil.which("hpcc") is None, reason="no hpcc (Debian's package of that name)")
@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("algorithm", ["binomial", "recursive_doubling", "rabenseifner"])
def test_hpcc_passes_its_own_checks(ranks: int, algorithm: str, tmp_path: Path) -> None:
    (tmp_path / "hpccinf.txt").write_text(HPCC.format(n=400, ranks=ranks), encoding="utf-8")
    ran = tmp_path / "ran.json"
    line = [COMMAND, "run", "-a", algorithm, "--json", str(ran), "--", *mpi.choose("openmpi").arguments(ranks), "hpcc"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    output = (tmp_path / "hpccoutf.txt").read_text(encoding="utf-8", errors="replace")
    assert re.search(r"^Success=1$", output, re.MULTILINE)
    assert "FAILED" not in output and "PASSED" in output
    calls = json.loads(ran.read_text(encoding="utf-8"))["calls"]
    assert any(row["algorithm"] == algorithm for row in calls), calls
