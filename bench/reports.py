"""Reports of many rows: how many a second a worker writes in each format, and by how much it grows.

`measure` is for a benchmark that has a database; `python -m bench.reports --rows 1000000` opens one of its own. What the
worker does is done by `bench/reports_child.py` in a process of its own, so that its memory is that of one report.
"""

import argparse
import sys
from collections.abc import Iterator
from typing import Final

from .place import Place, backends_of, open_database
from .prescriptions_report import Held
from .report import machine_line

FORMATS: Final = ("csv", "json", "xlsx")
_GROWN_MIB: Final = 64
_LEAST: Final = {
    "csv": 20_000,
    "json": 20_000,
    "xlsx": 4_000,
}  # rows a second, on one of two cores that others use, too


def measure(place: Place, *, rows: int) -> Iterator[Held]:
    """Write a report of so many movements in each format; each is told once it is written."""
    for form in FORMATS:
        took = place.python("-m", "bench.reports_child", "--rows", str(rows), "--format", form)
        told = f"{took['seconds']:.1f} s, of them {took['reading']:.1f} s reading; a file of {took['bytes'] / 1_048_576:.1f} MiB"
        rate, grown = rows / took["seconds"], took["grown"] / 1_048_576
        yield Held(f"report of {rows:,} rows, {form}", rate, _LEAST[form], " rows/s", at_least=True, told=told)
        yield Held(f"the worker grows by, {form}", grown, _GROWN_MIB, " MiB")


def main(arguments: list[str]) -> int:
    """Measure and print."""
    reader = argparse.ArgumentParser(prog="python -m bench.reports")
    reader.add_argument("--data", help="the data folder (default: .local/bench)")
    reader.add_argument("--rows", type=int, default=1_000_000)
    wanted = reader.parse_args(arguments)
    with backends_of(wanted.data) as backends:
        place = open_database(backends, "bench_reports", families=("SUPPLIER",))
        print(f"{machine_line()}\n", flush=True)
        for one in measure(place, rows=wanted.rows):
            print(one.line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
