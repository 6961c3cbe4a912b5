"""The machines of a report in words: the one that measured, the one that was simulated, and the versions."""

from __future__ import annotations

from kumihimo.demo.report import display
from kumihimo.demo.report.folder import Material


def measured_machine(material: Material) -> list[tuple[str, str]]:
    """Facts about the measuring machine and its software, as names and values."""
    measured, simulated = material.measured or {}, material.simulated or {}
    rows: list[tuple[str, str]] = []
    machine = measured.get("machine")
    if isinstance(machine, dict):
        rows += [(_name(key), _value(key, value)) for key, value in machine.items() if value not in (None, "")]
    elif machine:
        rows.append(("machine", str(machine)))
    mpi = measured.get("mpi")
    if isinstance(mpi, dict):
        rows += [(f"MPI {_name(key)}", str(value)) for key, value in mpi.items() if value]
    elif mpi:
        rows.append(("MPI", str(mpi)))
    for part, words in ((measured, "measured"), (simulated, "simulated")):
        if part.get("date"):
            rows.append((words, str(part["date"]).replace("T", " ").replace("+00:00", " UTC")))
        if part.get("wall_seconds"):
            rows.append((f"{words} in", display.seconds(part["wall_seconds"])))
    version = measured.get("version") or simulated.get("version")
    if version:
        rows.append(("Kumihimo", str(version)))
    return rows


def simulated_machine(material: Material) -> list[tuple[str, ...]]:
    """Every number of the simulated machine with where it comes from."""
    machine = (material.simulated or {}).get("machine", {})
    rows: list[tuple[str, ...]] = []
    for section in ("network", "node", "software"):
        for key, number in machine.get(section, {}).items():
            rows.append((_name(key), _value(key, number["value"]), number["provenance"], number["source"]))
    return rows


def _name(key: str) -> str:
    for ending in ("_bytes_per_second", "_seconds", "_bytes"):
        if key.endswith(ending) and key != "segment_bytes":
            return key[: -len(ending)].replace("_", " ")
    return key.replace("_", " ")


def _value(key: str, value: object) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if key.endswith("_per_second"):
            return display.rate(value)
        if key.endswith("_seconds"):
            return display.seconds(value)
        if key.endswith("_bytes"):
            return display.bytes_(int(value)) if value < 2**30 else f"{value / 2**30:.1f} GiB"
    if isinstance(value, dict):
        return ", ".join(f"{_name(k)} {_value(k, v)}" for k, v in value.items())
    return str(value)
