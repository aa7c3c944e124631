"""The file of a report in each format, written row by row, so that memory does not grow with the rows.

In CSV and XLSX a text that a spreadsheet would take for a formula begins with an apostrophe, and is a text by its type.
Source: contract, supply-invoice.md 6.
"""

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import orjson
import xlsxwriter

from core.clock import rfc3339

from .models import Report
from .sources import SOURCES, Column, Kind
from .states import Format

Rows = Iterable[Sequence[Any]]
CSV_MEDIA: Final = "text/csv"
XLSX_MEDIA: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
JSON_MEDIA: Final = "application/json"

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_SHEET_ROWS: Final = 1_048_576  # of a sheet, with its header
_CELL_CHARACTERS: Final = 32_767
_DIGITS: Final = 15  # which a number of a spreadsheet keeps


def neutral(text: str) -> str:
    """Return a text as a spreadsheet shows it and never computes it."""
    return f"'{text}" if text.startswith(_FORMULA) else text


class Writer(ABC):
    """Writes the file of a report to a path; `add` may be called any number of times, then `close` once."""

    media: str

    def __init__(self, path: Path, report: Report) -> None:
        self.columns: Sequence[Column] = SOURCES[report.type].columns

    @abstractmethod
    def add(self, rows: Rows) -> None:
        """Write further rows."""

    @abstractmethod
    def close(self) -> None:
        """Write the end."""


class CsvWriter(Writer):
    """Comma-separated values in UTF-8, with a header. Source: RFC 4180."""

    media = CSV_MEDIA

    def __init__(self, path: Path, report: Report) -> None:
        super().__init__(path, report)
        self._file = path.open("w", newline="", encoding="utf-8")
        self._csv = csv.writer(self._file)
        self._csv.writerow([one.name for one in self.columns])
        self._texts = [place for place, one in enumerate(self.columns) if one.kind is Kind.TEXT]

    def add(self, rows: Rows) -> None:
        """Write further rows."""
        self._csv.writerows(map(self._neutral, rows))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _neutral(self, row: Sequence[Any]) -> Sequence[Any]:
        values = list(row)
        for place in self._texts:
            if values[place] is not None:
                values[place] = neutral(values[place])
        return values


class JsonWriter(Writer):
    """One JSON object with the rows as objects; texts are as they are."""

    media = JSON_MEDIA

    def __init__(self, path: Path, report: Report) -> None:
        super().__init__(path, report)
        head = {"type": report.type, "as_of": rfc3339(report.as_of), "parameters": report.parameters}
        self._file: io.BufferedWriter = path.open("wb")
        self._file.write(orjson.dumps(head)[:-1] + b',"rows":[')
        self._names = [one.name for one in self.columns]
        self._between = b"\n"

    def add(self, rows: Rows) -> None:
        """Write further rows."""
        for row in rows:
            self._file.write(self._between + orjson.dumps(dict(zip(self._names, row, strict=True))))
            self._between = b",\n"

    def close(self) -> None:
        """End the object and close the file."""
        self._file.write(b"\n]}\n")
        self._file.close()


class XlsxWriter(Writer):
    """A workbook whose rows go to a temporary file; what no sheet holds any more goes to a further one."""

    media = XLSX_MEDIA

    def __init__(self, path: Path, report: Report) -> None:
        super().__init__(path, report)
        options = {
            "constant_memory": True, "tmpdir": str(path.parent), "strings_to_formulas": False, "strings_to_urls": False,
            "strings_to_numbers": False,
        }  # fmt: skip
        self._book = xlsxwriter.Workbook(str(path), options)
        self._book.use_zip64()
        self._book.set_properties({"created": report.as_of.replace(tzinfo=None)})  # of one content one file
        self._name, self._sheets = report.type, 0
        self._begin_sheet()

    def add(self, rows: Rows) -> None:
        """Write further rows."""
        for row in rows:
            if self._next == _SHEET_ROWS:
                self._begin_sheet()
            for place, (column, value) in enumerate(zip(self.columns, row, strict=True)):
                if value is not None:
                    self._write(place, column, value)
            self._next += 1

    def close(self) -> None:
        """Pack the workbook."""
        self._book.close()

    def _begin_sheet(self) -> None:
        self._sheets += 1
        self._sheet = self._book.add_worksheet(self._name if self._sheets == 1 else f"{self._name} {self._sheets}")
        self._sheet.freeze_panes(1, 0)
        for place, column in enumerate(self.columns):
            self._sheet.write_string(0, place, column.name)
        self._next = 1

    def _write(self, place: int, column: Column, value: Any) -> None:
        if column.kind is not Kind.TEXT and sum(map(str.isdigit, str(value))) <= _DIGITS:
            self._sheet.write_number(self._next, place, float(value))
        else:
            shown = str(value) if column.kind is not Kind.TEXT else neutral(value)
            self._sheet.write_string(self._next, place, shown[:_CELL_CHARACTERS])


WRITERS: Final[Mapping[str, type[Writer]]] = {
    Format.CSV.value: CsvWriter,
    Format.XLSX.value: XlsxWriter,
    Format.JSON.value: JsonWriter,
}


def file_name(report: Report) -> str:
    """Return the name of a report's file."""
    at: datetime = report.as_of
    return f"{report.type}-{at:%Y-%m-%dT%H%M%SZ}.{report.format}"
