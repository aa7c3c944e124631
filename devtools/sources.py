"""The code of the service and when it changed, for `./dev up --reload`."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

_EVERY_SECONDS = 0.5
_SUFFIXES = (".py", ".html", ".json")
_NOT_SERVED = frozenset({"tests", "bench", "devtools", "docs", "deploy"})


class Sources:
    """The files of the checkout's packages, each with its time of change."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known = dict(self._now())
        self._looked_at = time.monotonic()

    def changed(self) -> list[str]:
        """Return what was changed, added or removed since the last look; it looks every half second at most."""
        if time.monotonic() - self._looked_at < _EVERY_SECONDS:
            return []
        self._looked_at = time.monotonic()
        before, self._known = self._known, dict(self._now())
        return sorted({name for name, _ in before.items() ^ self._known.items()})

    def _now(self) -> Iterator[tuple[str, int]]:
        for folder in os.scandir(self._root):
            if folder.is_dir() and folder.name.isidentifier() and folder.name not in _NOT_SERVED:
                yield from self._below(folder.path)

    def _below(self, folder: str) -> Iterator[tuple[str, int]]:
        try:
            entries = list(os.scandir(folder))
        except FileNotFoundError:  # removed while it is looked through
            return
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    yield from self._below(entry.path)
            elif entry.name.endswith(_SUFFIXES):
                try:
                    yield os.path.relpath(entry.path, self._root), entry.stat().st_mtime_ns
                except FileNotFoundError:
                    continue
