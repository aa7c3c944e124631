"""Tables in a CSV file: a line for each row, a column for each member of its body.

The heading names a member as the API does: `name`, `storage.min_c`, `packagings.0.gtin`. An empty cell leaves its member out.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import IO, Any, Final, NamedTuple

import orjson
from rest_framework import serializers

from core.errors import Malformed

LONGEST_CELL: Final = 100_000
_DELIMITERS: Final = ",;\t"
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
_Path = tuple[str | int, ...]


class UnusableFile(Malformed):
    """The file is no table of what it should hold."""

    code = "unusable_file"
    title = "The file cannot be read."


class Form(NamedTuple):
    """What a table holds: the serializer of a row's body, the columns of which one must be there, and what rows are called.

    Cells of columns for which `is_value` holds are read by their form, all others as texts.
    """

    body: type[serializers.Serializer[Any]]
    keys: Sequence[str]
    noun: str
    is_value: Callable[[_Path], bool] = lambda _: False


class Line(NamedTuple):
    """One row of the file: the number of its last line, from 1, and its body; `fault` says why there is none."""

    number: int
    body: Mapping[str, Any]
    fault: str = ""


def lines_of(file: IO[bytes], form: Form) -> Iterator[Line]:
    """Yield the lines of a file in UTF-8, with or without a byte order mark; blank ones are left out.

    Cells are separated by the first line's commas, semicolons or tabs, whichever there are more of.

    :raises UnusableFile: it is not UTF-8, has no heading of known members, or a cell that never ends.
    """
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    number = 1
    csv.field_size_limit(LONGEST_CELL)
    try:
        heading = text.readline()
        delimiter = max(_DELIMITERS, key=heading.count)
        columns = _columns(next(csv.reader([heading], delimiter=delimiter, strict=True), []), form)
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield _line(reader.line_num + 1, columns, cells, form)
            number = reader.line_num + 1
    except UnicodeDecodeError as error:
        raise UnusableFile(f"Behind line {number}: the file is not UTF-8.") from error
    except csv.Error as error:
        raise UnusableFile(f"Behind line {number}: {error}.") from error
    finally:
        text.detach()


def _line(number: int, columns: Sequence[_Path], cells: Sequence[str], form: Form) -> Line:
    if len(cells) > len(columns):
        return Line(number, {}, f"The line has {len(cells)} cells, the heading {len(columns)}.")
    body: dict[str, Any] = {}
    for path, cell in zip(columns, cells, strict=False):
        if cell.strip():
            _put(body, path, _scalar(cell) if form.is_value(path) else cell.strip())
    return Line(number, _with_lists(body))


def _columns(names: Sequence[str], form: Form) -> list[_Path]:
    """Read the heading.

    :raises UnusableFile: a column names no member, or one that another names, too; or none is a key.
    """
    found = [tuple(int(step) if step.isdecimal() else step for step in name.strip().split(".")) for name in names]
    if not any((key,) in found for key in form.keys):
        raise UnusableFile(f"The first line names no column {' or '.join(form.keys)}.")
    unknown = [name for name, path in zip(names, found, strict=True) if not _leads_to_a_member(path, form)]
    if unknown:
        raise UnusableFile(f"{form.noun} have no member {', '.join(map(repr, unknown[:5]))}.")
    if len(set(found)) < len(found):
        raise UnusableFile("Two columns have the same name.")
    return found


def _leads_to_a_member(path: _Path, form: Form) -> bool:
    """Tell whether a path ends at a value of a row's body."""
    field: Any = form.body()
    for step in path:
        if isinstance(step, int):
            field = field.child if isinstance(field, serializers.ListSerializer) and step < _most(field) else None
        else:
            field = field.fields.get(step) if isinstance(field, serializers.Serializer) else None
        if field is None:
            return False
    return not isinstance(field, serializers.BaseSerializer)


def _most(field: Any) -> int:
    return int(field.max_length or 0)


def _put(body: dict[Any, Any], path: _Path, value: Any) -> None:
    """Put a value where a path leads; lists are dictionaries by their positions until the line is whole."""
    for step in path[:-1]:
        body = body.setdefault(step, {})
    body[path[-1]] = value


def _with_lists(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    made = {name: _with_lists(child) for name, child in node.items()}
    if made and all(isinstance(name, int) for name in made):
        return [made[position] for position in sorted(made)]
    return made


def _scalar(cell: str) -> Any:
    """Read a value by its form: a number, true, false, or a text; a text in quotation marks is always one."""
    text = cell.strip()
    if text in ("true", "false"):
        return text == "true"
    if _NUMBER.fullmatch(text):
        return Decimal(text) if "." in text else int(text)
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            return text
    return text
