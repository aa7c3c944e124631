"""CPU time by process: what the front, PostgreSQL and Valkey used between two moments."""

from collections.abc import Mapping
from dataclasses import dataclass

import psutil

from devtools.places import Places


def _of_tree(pid: int, *, reaped: bool) -> float:
    """CPU seconds of a process and its living descendants, and of those it has already reaped."""
    root = psutil.Process(pid)
    total = 0.0
    for process in [root, *root.children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
        if reaped and process.pid == pid:
            total += times.children_user + times.children_system
    return total


@dataclass(frozen=True)
class Meters:
    """The processes that are looked at, by name."""

    roots: Mapping[str, int]

    @classmethod
    def of(cls, places: Places, **more: int) -> "Meters":
        """PostgreSQL and Valkey of a data folder, and more processes by name."""
        postgres = int((places.postgres / "postmaster.pid").read_text().split()[0])
        valkey = int((places.valkey / "pid").read_text())
        return cls({"PostgreSQL": postgres, "Valkey": valkey, **more})

    def read(self) -> dict[str, float]:
        """CPU seconds so far."""
        return {name: _of_tree(pid, reaped=name == "PostgreSQL") for name, pid in self.roots.items()}

    def since(self, before: Mapping[str, float]) -> dict[str, float]:
        """CPU seconds used since a reading."""
        return {name: value - before[name] for name, value in self.read().items()}
