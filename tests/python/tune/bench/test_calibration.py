"""This machine as a described one, measured when asked for."""

from __future__ import annotations

import json

import pytest

from kumihimo.processes import mpi

pytestmark = [pytest.mark.mpi, pytest.mark.skipif(not mpi.discover(), reason="no MPI library on this machine")]


def test_every_figure_is_measured_and_of_a_sensible_size(kumihimo):
    ended = kumihimo("machine", "show", "this-machine", "--json")
    assert (ended.code, ended.err) == (0, "")
    machine = json.loads(ended.out)
    node, software = machine["node"], machine["software"]
    for name in ("memory_bandwidth", "reduction_rate", "shared_memory_bandwidth"):
        figure = node[f"{name}_bytes_per_second"]
        assert figure["provenance"] == "measured"
        assert "calibration" in figure["source"]
        assert 1e7 < figure["value"] < 1e13
    for figure in (node["shared_memory_latency_seconds"], software["message_cost_seconds"]):
        assert 1e-10 < figure["value"] < 1e-2


def test_it_can_be_simulated(kumihimo):
    asked = ("--machine", "this-machine", "--bytes", "8,1MiB", "--algorithm", "ring", "--json")
    found = json.loads(kumihimo("simulate", "allreduce", *asked).out)["results"]
    assert 0 < found[0]["seconds"] < found[1]["seconds"]
