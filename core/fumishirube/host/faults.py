"""Faults of plugins at run time, stored in the state folder until the stage works again."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from threading import Lock

from fumishirube.disk.own_files import made_folder, own_entries, read_own, state_folder
from fumishirube.disk.scratch import replace_file
from fumishirube.errors import first_line
from fumishirube.host.crash_marks import ForeignWork, crashed_work

FOLDER = "faults"
"""The folder below the state folder; it contains one file a stage."""

_log = logging.getLogger("fumishirube")

_SECONDS = 30 * 24 * 3600
"""Seconds after which a fault is dropped that did not occur again."""
_LINES = 5
"""Faults of one stage that a process logs, each once; the last one is always stored."""
_PAUSE = 0.5
"""Seconds between two writes of one stage's faults."""
_LONGEST, _MOST_BYTES = 300, 64 * 1024


@dataclass(frozen=True)
class Fault:
    """A failure of a plugin: its stage and file, the problem, when and how often, the method."""

    plugin: str
    distribution: str
    stage: str
    file: str
    problem: str
    last: float
    times: int = 1
    method: str = ""

    @property
    def key(self) -> str:
        """The identity that all failures of one stage share."""
        return ForeignWork(self.plugin, self.distribution, self.stage).key

    @property
    def sentence(self) -> str:
        """What happened, without the plugin's name."""
        if self.file:
            return f"{self.stage} failed on {self.file}: {self.problem}"
        return f"{self.stage} failed: {self.problem}"

    @property
    def finding(self) -> str:
        """What happened, when it happened last, and how often."""
        last = datetime.fromtimestamp(self.last).astimezone().isoformat(" ", "seconds")
        if self.times > 1:
            return f"{self.sentence} ({self.times} times, last {last})"
        return f"{self.sentence} ({last})"


def described(error: BaseException) -> str:
    """Return an exception's type and the beginning of the first line of its message."""
    return first_line(error)[:_LONGEST]


class FaultLog:
    """The faults of the plugins of one workspace. Several threads and processes may write."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._folder = state_folder(state, FOLDER)
        self._lock = Lock()
        self._faults: dict[str, Fault] | None = None
        self._logged: dict[str, set[tuple[str, str]]] = {}
        self._written: dict[str, float] = {}

    def record(self, work: ForeignWork, problem: str, public: str = "", method: str = "") -> None:
        """Store and log a failure; in the log, ``public`` replaces what may quote a text."""
        with self._lock:
            logged = self._logged.setdefault(work.key, set())
            fault = Fault(*work, problem=problem, last=time.time(), method=method)
            known = self._known()
            times = known[fault.key].times if fault.key in known else 0
            known[fault.key] = fault = replace(fault, times=times + 1)
            self._write(fault)
            new = (fault.file, problem) not in logged and len(logged) < _LINES
            if new:
                logged.add((fault.file, problem))
            last = len(logged) == _LINES
        if new:
            name = f"plugin {fault.plugin}"
            name += f" ({fault.distribution})" if fault.distribution != fault.plugin else ""
            more = "; its further failures are not logged" if last else ""
            sentence = replace(fault, problem=public or problem).sentence
            fields = {"fault": f"{name}: {fault.sentence}{more}"}
            _log.error("%s", f"{name}: {sentence}{more}", extra=fields)

    def longer(self, work: ForeignWork, problem: str) -> str:
        """Return a failure of this stage that was logged with its message, or the same problem."""
        with self._lock:
            logged = (each for _, each in self._logged.get(work.key, ()))
            return next((each for each in logged if each.startswith(f"{problem}: ")), problem)

    def worked(self, work: ForeignWork, method: str = "") -> None:
        """Remove the failure of this stage, for the same file and method."""
        if self._faults is not None and not self._faults:
            return
        with self._lock:
            known = self._known()
            key = work.key
            if key in known and known[key].file == work.file and known[key].method in ("", method):
                del known[key]
                self._written.pop(key, None)
                with suppress(OSError):
                    self._file(key).unlink()

    def recorded_since(self, work: ForeignWork, when: float) -> bool:
        """Tell whether this process recorded a failure of this stage since then."""
        with self._lock:
            fault = self._known().get(work.key)
            return fault is not None and fault.last >= when

    def record_crashes(self) -> None:
        """Record what plugins ran in processes that died."""
        for work in crashed_work(self._state):
            self.record(work, "the process ended while it ran")

    def faults(self) -> Sequence[Fault]:
        """Return the stored failures of all processes, the latest first."""
        with self._lock:
            self._faults = None
            return sorted(self._known().values(), key=lambda fault: -fault.last)

    def _known(self) -> dict[str, Fault]:
        if self._faults is None:
            self._faults = {}
            for file in own_entries(self._folder, "*.json"):
                with suppress(OSError, ValueError, TypeError, RecursionError):
                    fault = Fault(**json.loads(read_own(file, _MOST_BYTES)))
                    # The finding of one with values of other types raises.
                    if abs(time.time() - fault.last) < _SECONDS and fault.finding:
                        self._faults[fault.key] = fault
                    else:
                        file.unlink()
        return self._faults

    def _write(self, fault: Fault) -> None:
        """Write a failure, unless this stage was written a moment before; ignore write errors."""
        now = time.monotonic()
        if fault.key in self._written and now - self._written[fault.key] < _PAUSE:
            return
        self._written[fault.key] = now
        with suppress(OSError):
            made_folder(self._folder)
            text = json.dumps(asdict(fault), ensure_ascii=False)
            replace_file(self._file(fault.key), text.encode("utf-8", "replace"))

    def _file(self, key: str) -> Path:
        return self._folder.path / f"{key}.json"
