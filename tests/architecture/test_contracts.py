"""The import contracts hold every package by default: a new one that breaks a law breaks a contract that does not name it."""

import ast
import os
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from tests.architecture.contracts import ROOT, contract, linter, root_packages
from tests.architecture.test_size import FILES

BESIDE = {"bench", "devtools", "tests"}  # they build and try the platform, and are no part of it


def test_every_package_of_the_platform_is_known_to_the_linter():
    there = {path.parent.name for path in ROOT.glob("*/__init__.py")} - BESIDE
    assert there == set(root_packages())


def test_every_package_has_its_floor():
    layers = [re.split(r"\W+", layer) for layer in contract("Floors")["layers"]]
    assert sorted(chain.from_iterable(layers)) == sorted(root_packages())


def test_circles_are_looked_for_in_every_package():
    assert sorted(contract("No circles")["ancestors"]) == sorted(root_packages())


# -- django.http, which the linter cannot tell from the rest of Django -------------------------------------------------


def faces():
    """What may speak HTTP: a pattern of module names."""
    parts = []
    for name in contract("No HTTP below the faces")["allowed_importers"]:
        text = re.escape(name).replace(r"\*\*", r"\w+(?:\.\w+)*").replace(r"\*", r"\w+")
        parts.append(rf"{text}(?:\.\w+)*")
    return re.compile("|".join(parts))


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def speaks_http(text):
    """Whether a source imports Django's requests and answers."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return any(f"{name}.".startswith("django.http.") for name in found)


def test_nothing_below_the_faces_knows_djangos_requests():
    sources = [path for path in FILES if path.relative_to(ROOT).parts[0] in root_packages()]
    speaking = [module_of(path) for path in sources if speaks_http(path.read_text())]
    assert len(speaking) > 20
    assert [name for name in speaking if not faces().fullmatch(name)] == []


@pytest.mark.parametrize(
    "text", ["from django.http import HttpRequest", "import django.http", "from django import http", "import django.http.response as r"]
)  # fmt: skip
def test_import_of_requests_is_found(text):
    assert speaks_http(text)


def test_faces_are_told_from_what_stands_below_them():
    found = faces()
    assert all(map(found.fullmatch, ["suppliers.catalog.views", "webhooks.admin.charts", "api.views", "portal.apps"]))
    assert not any(map(found.fullmatch, ["suppliers.catalog.actions", "portal.models", "views", "portal.previews"]))


# -- a package that nobody has thought of ------------------------------------------------------------------------------


def lint(folder, files):
    """Lint the platform together with a package `portal` of these files, which stands on the floor of suppliers."""
    for name, text in {"__init__.py": "", **files}.items():
        path = folder / "portal" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    text = (ROOT / "pyproject.toml").read_text()
    for before, after in (
        ("root_packages = [", 'root_packages = ["portal", '),
        ("ancestors = [", 'ancestors = ["portal", '),
        ('"appointments | ', '"portal | appointments | '),
    ):
        assert text.count(before) == 1
        text = text.replace(before, after)
    (folder / "pyproject.toml").write_text(text)
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=here, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("files", "broken"),
    [
        ({"models.py": "from organizations.public import TenantOwned\nfrom fhir_api import public"}, set()),
        ({"shop/views.py": "from api.views import ApiViewSet", "shop/__init__.py": ""}, set()),
        ({"models.py": "from rest_framework import serializers"}, {"No HTTP below the faces"}),
        ({"actions.py": "from api.views import ApiViewSet"}, {"No HTTP below the faces"}),
        ({"models.py": "from fhir_api.store.models import Resource"}, {"One door per app"}),
        ({"admin.py": "from organizations.models import Tenant"}, {"One door per app"}),
        ({"views.py": "from webhooks import public"}, {"Floors"}),
        ({"a.py": "from . import b", "b.py": "from . import a"}, {"No circles"}),
    ],
)
def test_contract_holds_a_package_that_it_does_not_name(tmp_path, files, broken):
    ran = lint(tmp_path, files)
    assert set(re.findall(r"^(.+?) BROKEN", ran.stdout, re.MULTILINE)) == broken, ran.stdout + ran.stderr
    assert len(re.findall(r"^.+? KEPT", ran.stdout, re.MULTILINE)) == len(linter()["contracts"]) - len(broken)
