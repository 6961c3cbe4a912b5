"""Machine files from what other tools know of a machine: Slurm's topology files, SimGrid's platforms, hwloc's XML.

These say how nodes are joined, hardly ever how fast they are. So an import takes the numbers of a described machine
that is like the new one, with their sources, and replaces those that its file does give.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo import _machine
from kumihimo.text import documents, files, odd_bytes
from kumihimo.text.errors import wrong_value

LARGEST_FILE = 64 << 20
WHAT = "the file to import"


@dataclass
class ImportedNetwork:
    """Content of a file: the lines of [topology], and numbers by section and key, as a machine file writes values."""

    topology: list[str]
    summary: str
    numbers: dict[tuple[str, str], str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)  # what the file does not say and was assumed
    one_node: bool = False
    levels: list[str] = field(default_factory=list)  # of the node's cores


def read(path: Path) -> ImportedNetwork:
    """Reads a file by its kind, which its name or its first element tells."""
    from kumihimo.network.imports import hwloc, simgrid, slurm, slurm_yaml

    source = odd_bytes.printable(path.name)
    if path.suffix in (".yaml", ".yml"):
        return slurm_yaml.read(files.read_text(path, WHAT, LARGEST_FILE), source)
    if path.suffix == ".conf":
        return slurm.read_conf(files.read_text(path, WHAT, LARGEST_FILE), source, path.parent)
    data = files.read_bytes(path, WHAT, LARGEST_FILE)
    root = documents.read_xml(data, source) if documents.is_xml(data) else None
    if root is not None and root.tag == "platform":
        return simgrid.read(root)
    if root is not None and root.tag == "topology":
        return hwloc.read(root)
    first = f"the element <{root.tag}>" if root is not None else "no element"
    raise wrong_value(
        "the file must be Slurm's topology.conf or topology.yaml, a <platform> of SimGrid or a <topology> of hwloc",
        f"{first} in '{odd_bytes.printable(str(path))}'",
        "" if path.suffix == ".xml" else "name the file .conf, .yaml or .xml",
    )


def toml_text(text: str) -> str:
    """As a machine file writes it, whatever its characters."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'


def machine_file(network: ImportedNetwork, like: _machine.Machine, name: str, source: str) -> str:
    """The whole machine file, which is read once, so that what is wrong with it is said now."""
    if like.family == "single_node" and not network.one_node:
        raise wrong_value(
            "--like must name a machine with a network, which supplies the numbers",
            like.name,
            "use another --like",
        )
    text = "\n".join(
        [
            f"# {_one_line(network.summary)}, imported from {_one_line(source)}.",
            f'# Check each number marked assumed = "as {_one_line(like.name)}: ..." and replace the wrong ones.',
            *[f"# {_one_line(remark)}" for remark in network.remarks],
            f"name = {toml_text(name)}",
            f"summary = {toml_text(network.summary)}",
            "",
            "[topology]",
            *network.topology,
            "",
            _numbers(network, like, source),
        ]
    )
    _machine.parse(text, f"what was imported from {source}")
    return text


def _one_line(text: str) -> str:
    """For comments."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _numbers(network: ImportedNetwork, like: _machine.Machine, source: str) -> str:
    """Numbers of the other machine that the file lacks, and which are so assumed; but for the engine of another
    network.
    """
    of_like = r'\b(?:published|measured|fitted|assumed) = "'
    begin = f"assumed = {toml_text(f'as {like.name}: ')[:-1]}"
    text = re.sub(of_like, lambda _: begin, like.numbers_to_toml())
    text = text.replace("see above", f"see {like.name}.toml")  # a comment that stays there
    sections = re.split(r"(?m)^(?=\[)", text)
    if network.one_node:
        sections = [s for s in sections if not s.startswith("[network]")]
    if network.one_node or f'family = "{like.family}"' not in network.topology:
        sections = [s for s in sections if not s.startswith("[offload]")]
    for i, section in enumerate(sections):
        if section.startswith("[node]"):
            of_levels = r"(?m)^(?:shared_memory_bandwidth|shared_memory_latency|link_bandwidth)_(\w+) = .*\n"
            sections[i] = re.sub(of_levels, lambda line: line[0] if line[1] in network.levels else "", section)
    for (section, key), value in network.numbers.items():
        line = f"{key} = {{ value = {value}, assumed = {toml_text(source)} }}\n"
        for i, old in enumerate(sections):
            if old.startswith(f"[{section}]"):
                new = re.sub(rf"(?m)^{key} = .*\n", lambda _, line=line: line, old)
                sections[i] = new if new != old or line in old else old.rstrip("\n") + "\n" + line + "\n"
    return "".join(sections)
