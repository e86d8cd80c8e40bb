"""How long a new process takes until it answers, beside the import of the MCP SDK.

    python benchmarks/start.py
    python benchmarks/start.py --times 3

Everything is measured in turns, in fresh processes, so that what else the machine does hits all of
it alike. Milliseconds are medians: of the clock, and of the processor time of that process, which
other programs hardly change. The sample manuals are indexed before; the find is the first one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple, TypeAlias

from processes import HELLO, QUIET, console

SAMPLES = Path(__file__).parent.parent / "manuals"
MANUAL, QUERY = "業務ハンドブック", "申請 期限"
FIND = {"manual_id": MANUAL, "query": QUERY, "required_terms": ["申請"]}


class Cost(NamedTuple):
    """Milliseconds since the process was started: of the clock, and of the processor."""

    wall: float
    cpu: float


Costs: TypeAlias = dict[str, list[Cost]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=15, help="fresh processes of each kind")
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder)
        shutil.copytree(SAMPLES, workspace / "manuals")
        command = [console(), "find", QUERY, "--manual", MANUAL, "--workspace", folder]
        whole(command)
        costs: Costs = defaultdict(list)
        for _ in range(times):
            costs["python -c pass"].append(whole([sys.executable, "-c", "pass"]))
            sdk = [sys.executable, "-c", "import mcp.server"]
            costs["import mcp.server"].append(whole(sdk))
            costs["fumishirube find, whole process"].append(whole(command))
            served(workspace, costs)
    print(f"{'medians of ' + str(times):32}{'ms':>8}{'CPU ms':>8}")
    for label, found in costs.items():
        wall, cpu = (statistics.median(column) for column in zip(*found, strict=True))
        print(f"{label:32}{wall:8.0f}{cpu:8.0f}")
    return 0


def whole(command: list[str]) -> Cost:
    """Run a process to its end, which must be a good one."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **QUIET},
    )
    _, status, used = os.wait4(process.pid, 0)
    took = (time.perf_counter() - began) * 1000
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[:2]} ended with {process.returncode}")
    return Cost(took, (used.ru_utime + used.ru_stime) * 1000)


def served(workspace: Path, costs: Costs) -> None:
    """Start a server, and ask it for everything that a client asks for, up to a first find."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [console(), "serve", "--workspace", str(workspace)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **QUIET},
    )

    def ask(label: str, method: str, **params: object) -> None:
        message = {"jsonrpc": "2.0", "id": label, "method": method, "params": params}
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        if "error" in answer or answer["result"].get("isError"):
            raise RuntimeError(f"{label}: {answer}")
        took = (time.perf_counter() - began) * 1000
        costs[f"serve: spawn to {label}"].append(Cost(took, _cpu(process.pid)))

    ask("initialize", "initialize", **HELLO)
    process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    ask("tools/list", "tools/list")
    ask("manual_ls", "tools/call", name="manual_ls", arguments={})
    ask("first find", "tools/call", name="manual_find", arguments=FIND)
    process.stdin.close()
    process.wait(timeout=30)
    process.stdout.close()


def _cpu(pid: int) -> float:
    """Return the milliseconds of processor time that a process has used, all threads."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.is_file():
        return float("nan")
    user, system = stat.read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) * 1000 / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.exit(main())
