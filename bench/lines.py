"""Lines of code behind groups of operations: `python -m bench.lines [--root DIR] [--table FILE.json] [--each]`.

A line counts if code stands on it: not a blank line, not a line with a comment only, not a docstring. Imports count where
a whole file is counted. Every line of a text that spans several counts, unless it is blank.
"""

import argparse
import ast
import io
import json
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

# What declares answers, filters and operations, but neither the bodies nor the actions. A path alone is the whole file;
# `path:Name` is one class, function or assignment at the top of it.
TABLE: Mapping[str, Sequence[str]] = {
    "products and categories": (
        "suppliers/catalog/representations.py",
        "suppliers/catalog/filters.py",
        "suppliers/catalog/views.py",
        "suppliers/storefront/representations.py",
        "suppliers/storefront/views.py",
    ),
    "locations": (
        "organizations/representations/locations.py",
        "organizations/filters/locations.py",
        "organizations/views/locations.py",
    ),
    "webhook endpoints": (
        "webhooks/representations.py:WebhookEndpointOut",
        "webhooks/views.py:EndpointViewSet",
    ),
}

_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


class NoSuchName(Exception):
    """The table names something that stands in no file, so its count would be too small."""


def count(root: Path, place: str) -> int:
    """Lines of code of `path` or `path:Name`, the path below `root`.

    :raises NoSuchName: the file has no such class, function or assignment at its top.
    """
    path, _, name = place.partition(":")
    source = (root / path).read_text()
    tree = ast.parse(source)
    found = _code_lines(source) - set(_docstring_lines(tree))
    return len(found & set(_span(tree, name, place)) if name else found)


def _code_lines(source: str) -> set[int]:
    lines = source.splitlines()
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    spans = (range(token.start[0], token.end[0] + 1) for token in tokens if token.type not in _NO_CODE)
    return {number for span in spans for number in span if lines[number - 1].strip()}


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            yield from range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)


def _span(tree: ast.Module, name: str, place: str) -> Iterable[int]:
    for node in tree.body:
        if name in _names(node):
            first = min((decorator.lineno for decorator in getattr(node, "decorator_list", ())), default=node.lineno)
            return range(first, (node.end_lineno or node.lineno) + 1)
    raise NoSuchName(place)


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]


def main(arguments: Sequence[str]) -> int:
    """Print the lines of each group, with `--each` also those of its parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(), help="the checkout to count in")
    parser.add_argument("--table", type=Path, help="a JSON object of group to places, instead of the table kept here")
    parser.add_argument("--each", action="store_true", help="also print each place")
    chosen = parser.parse_args(arguments)
    table = json.loads(chosen.table.read_text()) if chosen.table else TABLE
    for group, places in table.items():
        found = {place: count(chosen.root, place) for place in places}
        print(f"{sum(found.values()):5}  {group}")
        for place, lines in found.items() if chosen.each else ():
            print(f"       {lines:5}  {place}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
