"""A small machine with numbers that are wrong, and the true ones."""

from __future__ import annotations

import json

MACHINE = """name = "small"
summary = "a small torus"
[topology]
family = "torus"
shape = "4x4x4"
[network]
link_bandwidth = { value = "4 GB/s", assumed = "a guess" } # and what it is
link_peak = { value = "5 GB/s", published = "a paper" }
hop_latency = { value = "100 ns", published = "a paper" }
engines = { value = 4, published = "a paper" }
engine_bandwidth = { value = "5 GB/s", published = "a paper" }
[node]
ranks_per_node = { value = 1, published = "a job" }
cores = { value = 8, published = "a paper" }
memory = { value = "16 GB", published = "a paper" }
memory_bandwidth = { value = "400 GB/s", published = "a paper" }
reduction_rate = { value = "6 GB/s", assumed = "a {guess}" }
reduction_rate_scalar = { value = "1 GB/s", published = "a paper" }
shared_memory_bandwidth = { value = "6 GB/s", published = "a paper" }
shared_memory_latency = { value = "1 us", published = "a paper" }
[software]
message_cost = { value = "2 us", assumed = 'a "guess"' }
relay_latency = { value = "3 us", assumed = "a guess" }
segment_bytes = { value = "16 KiB", assumed = "declared" }
"""
TRUTH = {"link_bandwidth": "3.1 GB/s", "reduction_rate": "9 GB/s", "message_cost": "1.2 us", "relay_latency": "4.4 us"}


def judged(*rows: tuple[str, str, int, float, float]) -> str:
    """A section of errors of predictions, of jobs of 8 to 64 nodes. A row: algorithms, lengths, times, low, high."""
    names = ("algorithms", "lengths", "times", "low", "high")
    lines = "".join(
        f"  {{ {', '.join(f'{name} = {json.dumps(value)}' for name, value in zip(names, row))} }},\n" for row in rows
    )
    head = '[prediction_errors]\nsource = "jobs of another size"\nfewest_nodes = 8\nmost_nodes = 64\n'
    return f"\n{head}rows = [\n{lines}]\n"


def csv_of(times: list, factors: list[float] | None = None) -> str:
    lines = ["collective,algorithm,shape,bytes,seconds,system"]
    for case, factor in zip(times, factors or [1.0] * len(times)):
        v = case.values
        lines.append(f"{v['collective']},{v['algorithm']},{v['shape']},{v['bytes']},{case.seconds * factor!r},mine")
    return "\n".join(lines) + "\n"
