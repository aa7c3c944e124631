"""The contract's forty points each have tests: `docs/fhir-points.md` names them, and names none that is not there."""

import ast
import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
TABLE = HERE.parents[1] / "docs" / "fhir-points.md"
POINTS = range(1, 41)
_ROW = re.compile(r"\| (\d+) \| ([^|]+) \| (.+) \|")
_FILE = re.compile(r"`([\w/]+\.py)`: ((?:`test_\w+`(?:, )?)+)")


def test_every_point_has_its_row_in_order():
    assert [number for number, _ in rows()] == list(POINTS)


def test_every_test_that_is_named_is_there():
    missing = [(number, *one) for number, named in rows() for one in named if one not in written()]
    assert missing == []
    assert [number for number, named in rows() if not named] == []


def test_every_test_that_names_a_point_stands_in_its_row():
    table = dict(rows())
    lost = [(number, *one) for one in written() for number in told(one[1]) if one not in table.get(number, ())]
    assert lost == []


def test_numbers_in_names_are_understood():
    assert told("test_points_9_and_10_misspelt") == [9, 10]
    assert told("test_strings_are_29_30") == [29, 30]
    assert told("test_19_value") == [19]
    assert told("test_point_8_unknown_is_404_deleted_410") == [8]
    assert told("test_batch_of_390_entries") == []


def rows():
    """Number and tests, as file and name, of each row."""
    found = []
    for match in filter(None, map(_ROW.fullmatch, TABLE.read_text().splitlines())):
        named = [(file, name) for file, names in _FILE.findall(match[3]) for name in re.findall(r"`(\w+)`", names)]
        found.append((int(match[1]), named))
    return found


@cache
def written():
    """All tests of the FHIR interface, as file below this folder and name."""
    return frozenset(
        (path.relative_to(HERE).as_posix(), node.name)
        for path in HERE.rglob("test_*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def told(name):
    """The points that a test's name tells: `test_point_5_…`, `test_points_9_and_10_…`, `test_19_…`, `…_29_30`."""
    match = re.match(r"test_(?:points?_)?(\d+(?:_and_\d+|_\d+)*)_", name) or re.search(r"((?:_\d\d)+)$", name)
    return [number for number in map(int, re.findall(r"\d+", match[1])) if number in POINTS] if match else []
