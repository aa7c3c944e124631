"""Rooms stay small: a file has at most 400 lines, a function at most 40."""

import ast

import pytest

from tests.architecture.contracts import ROOT, root_packages

PACKAGES = [*root_packages(), "devtools"]
FILES = [
    path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")) if "migrations" not in path.parts
]


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROOT)) for path in FILES])
def test_file_is_small_and_says_what_lives_there(path):
    text = path.read_text()
    tree = ast.parse(text)
    long = {
        node.name: node.end_lineno - node.lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno - node.lineno >= 40
    }
    assert (text.count("\n") <= 400, long) == (True, {})
    assert not text.strip() or ast.get_docstring(tree), "a file opens with one sentence saying what lives there"
