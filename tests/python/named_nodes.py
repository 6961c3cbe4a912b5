"""Several nodes on one machine: each is a namespace in which this machine has the node's name."""

from __future__ import annotations

import subprocess
from pathlib import Path

# What launchers take instead of ssh: node, then the command line.
AGENT = """#!/bin/sh
node=$1
shift
exec unshare --uts sh -c 'hostname "$0" && exec sh -c "$*"' "$node" "$@"
"""


def lacking() -> str:
    """Why there can be none here; empty if there can."""
    asked = ["unshare", "--uts", "hostname", "nodea"]
    try:
        can = subprocess.run(asked, capture_output=True, timeout=20, check=False).returncode == 0
    except OSError:
        can = False
    return "" if can else "no namespaces for the names of nodes here (unshare --uts)"


def agent_in(folder: Path) -> Path:
    agent = folder / "agent"
    agent.write_text(AGENT, encoding="utf-8")
    agent.chmod(0o755)
    return agent


def on(node: str) -> list[str]:
    """The beginning of the command line of a program that runs there."""
    return ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', node]
