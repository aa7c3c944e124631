"""Signs of life of the processes that listen on no port: files whose age tells probes and `./dev up` that they work.

`PULSE_DIR/NAME` is touched while the process turns its loop, `PULSE_DIR/NAME.worked` when it has done a task. NAME is what
stands before the @ of a worker's `--hostname`, or `beat`. `python -m config.pulse NAME` ends with 1 if the file is too old.
"""

import argparse
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

BEAT = "beat"
EVERY_SECONDS = 5.0
WITHIN_SECONDS = 60.0


def folder() -> Path:
    """Return the folder of the files."""
    return Path(os.environ.get("PULSE_DIR") or Path(tempfile.gettempdir()) / "hp-pulse")


def beat(name: str) -> None:
    """Note that a process is alive now; a folder that cannot be written makes the probe fail, not the process."""
    with suppress(OSError):
        place = folder()
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        (place / name).touch()


def worked(name: str) -> None:
    """Note that a worker has done a task."""
    beat(f"{name}.worked")


def age_seconds(name: str) -> float | None:
    """Return how long ago the process was last heard of; None if never."""
    try:
        return time.time() - (folder() / name).stat().st_mtime
    except OSError:
        return None


def main() -> int:
    """Tell by the exit code whether a process was heard of lately."""
    parser = argparse.ArgumentParser(prog="python -m config.pulse", description=main.__doc__)
    parser.add_argument("name")
    parser.add_argument("--within", type=float, default=WITHIN_SECONDS, metavar="SECONDS")
    options = parser.parse_args()
    age = age_seconds(options.name)
    if age is None or age > options.within:
        sys.stdout.write(
            f"{options.name} was {'never heard of' if age is None else f'last heard of {age:.0f} s ago'}\n"
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
