"""There is one way out: outside `core.egress` nothing of the platform speaks HTTP to others, or opens a socket to them."""

import ast

import pytest

from tests.architecture.test_size import FILES, ROOT

WAYS_OUT = {"aiohttp", "ftplib", "http.client", "httpx", "pycurl", "requests", "telnetlib", "urllib.request", "urllib3"}
SOCKETS = {"create_connection", "open_connection"}
# Our own machine's servers, before and beside the platform; never an address that a user named.
OWN = {"core/egress", "devtools"}
SOURCES = [path for path in FILES if not any((ROOT / own) in path.parents for own in OWN)]


def ways_out(text):
    """Every import or call in a source by which it could reach others."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        if isinstance(node, ast.Attribute) and node.attr in SOCKETS:
            found.add(node.attr)
    return {name for name in found if name in SOCKETS or any(f"{name}.".startswith(f"{way}.") for way in WAYS_OUT)}


@pytest.mark.parametrize("path", SOURCES, ids=[str(path.relative_to(ROOT)) for path in SOURCES])
def test_nothing_goes_out_beside_the_guard(path):
    assert ways_out(path.read_text()) == set()


@pytest.mark.parametrize(
    "text",
    ["import requests", "from urllib.request import urlopen", "from urllib import request", "import http.client as h",
     "import aiohttp.client", "import socket\nsocket.create_connection(('a', 1))"],
)  # fmt: skip
def test_ways_out_are_found(text):
    assert ways_out(text)


@pytest.mark.parametrize("text", ["from urllib.parse import quote", "from http import HTTPStatus", "import socket"])
def test_other_names_are_none(text):
    assert ways_out(text) == set()
