"""Reading a table from a CSV file: every fault is named with its line, and no row counts unless all are sound."""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from core.errors import FieldError, InvalidFields

from .tables import Fault, Row, Table

MOST_ROWS = 500_000
MOST_FAULTS = 100


class UnusableTable(InvalidFields):
    """The file of a table has faults; `errors` names each with its line."""

    title = "The table cannot be loaded."


def rows_of_file(table: Table, path: Path) -> list[Row]:
    """Read a CSV file in UTF-8, with or without a byte order mark.

    :raises UnusableTable: the file cannot be opened, is not UTF-8, or its content has faults.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return rows_of(table, file)
    except OSError as error:
        raise UnusableTable(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnusableTable(f"{path} is not UTF-8: byte {error.start} of a line cannot be read.") from error


def rows_of(table: Table, lines: Iterable[str]) -> list[Row]:
    """Read the rows of a CSV text whose first line names the columns, in any order.

    :raises UnusableTable: the content has faults.
    """
    rows: list[Row] = []
    faults: list[Fault] = []
    seen: dict[tuple[object, ...], int] = {}
    for line, cells in _lines(table, lines, faults):
        row, found = table.read(cells, line)
        if not found:
            key = tuple(row[name] for name in table.key)
            first = seen.setdefault(key, line)
            if first != line:
                found = [Fault(line, "", "duplicate", f"The row has the key of line {first}.")]
            rows.append(row)
        faults += found
        if len(faults) >= MOST_FAULTS:
            break
        if len(rows) > MOST_ROWS:
            faults.append(Fault(line, "", "too_long", f"At most {MOST_ROWS:,} rows."))
            break
    if faults:
        raise refusal(faults)
    return rows


def refusal(faults: Iterable[Fault]) -> UnusableTable:
    """Return the refusal that names the faults."""
    errors = [
        FieldError(f"line {fault.line}" + (f", {fault.column}" if fault.column else ""), fault.code, fault.message)
        for fault in faults
    ]
    more = f" The first {MOST_FAULTS} faults are named." if len(errors) >= MOST_FAULTS else ""
    return UnusableTable(f"{len(errors)} faults; nothing was loaded.{more}", errors=errors[:MOST_FAULTS])


def _lines(table: Table, lines: Iterable[str], faults: list[Fault]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line number and the cells of each row; what is no row becomes a fault."""
    reader = csv.reader(lines, strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        if sorted(header) != sorted(table.columns):
            faults.append(Fault(1, "", "columns", f"The columns must be {', '.join(table.columns)}."))
            return
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                message = f"{len(cells)} cells, but there are {len(header)} columns."
                faults.append(Fault(reader.line_num, "", "columns", message))
            else:
                yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        faults.append(Fault(reader.line_num, "", "invalid", f"The line is no CSV: {error}."))
