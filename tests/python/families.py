"""The MPI libraries of this machine as parameters of tests that take long."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kumihimo.processes.mpi import Installation


def others_long(installations: Sequence[Installation], usual: int = 0) -> pytest.MarkDecorator:
    """All of them as `installation`; those beside the usual one are for make test-long."""
    if not installations:
        return pytest.mark.parametrize("installation", installations)
    chosen = installations[usual % len(installations)]
    rows = [pytest.param(one, id=one.family, marks=[pytest.mark.long] * (one is not chosen)) for one in installations]
    return pytest.mark.parametrize("installation", rows)
