"""Every environment variable that the service reads stands in `.env.example`, and every name there is read."""

import ast
import os
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

from devtools.places import ROOT

EXAMPLE = ROOT / ".env.example"
OWN_STAGE = {"tests", "bench", "devtools", "docs", "deploy"}
FAMILY = re.compile(r"RATE_LIMIT_[A-Z_]+_PER_MINUTE")
NAME = re.compile(r"^(?:# ?)?([A-Z][A-Z0-9_]+)=", re.MULTILINE)
OUTSIDE = {"DJANGO_SETTINGS_MODULE"}  # Django's own


def example_names(file: Path = EXAMPLE) -> list[str]:
    return NAME.findall(file.read_text())


class Reads(ast.NodeVisitor):
    """The names that one module reads: literals, its constants, and what callers give a function that reads."""

    def __init__(self, tree: ast.Module) -> None:
        self.names: set[str] = set()
        self.unknown: list[int] = []
        self.constants = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        self.calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        self.function: ast.FunctionDef | None = None
        self.visit(tree)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer, self.function = self.function, node
        self.generic_visit(node)
        self.function = outer

    def visit_Call(self, node: ast.Call) -> None:
        text = ast.unparse(node.func)
        reads = re.fullmatch(r"(os\.)?(environ\.get|getenv)|env(\.[a-z_]+)?|environ\.Env\(\)\.[a-z_]+", text)
        if reads and node.args:
            self.note(node.args[0])
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if ast.unparse(node.value) in ("os.environ", "environ", "env.ENVIRON") and isinstance(node.ctx, ast.Load):
            self.note(node.slice)
        self.generic_visit(node)

    def note(self, name: ast.expr) -> None:
        if isinstance(name, ast.Constant):
            self.names.add(str(name.value))
        elif isinstance(name, ast.Name) and name.id in self.constants:
            self.names.add(self.constants[name.id])
        elif isinstance(name, ast.Name) and (given := list(self.given(name.id))):
            self.names.update(given)
        else:
            self.unknown.append(name.lineno)

    def given(self, parameter: str) -> Iterator[str]:
        """What the callers of the function around give for one of its parameters."""
        if self.function is None:
            return
        place = [argument.arg for argument in self.function.args.args].index(parameter)
        for call in self.calls:
            if ast.unparse(call.func) == self.function.name and isinstance(call.args[place], ast.Constant):
                yield call.args[place].value


def modules() -> Iterator[Path]:
    yield ROOT / "manage.py"
    for folder in sorted(ROOT.iterdir()):
        if folder.is_dir() and folder.name.isidentifier() and folder.name not in OWN_STAGE:
            yield from folder.rglob("*.py")


def read_names() -> set[str]:
    names: set[str] = set()
    for file in modules():
        text = file.read_text()
        if "environ" in text or "getenv" in text:
            # An Edge's or a view's `environ` is WSGI's, whose keys are no settings.
            found = (
                Reads(ast.parse(text)) if "import environ" in text or "os.environ" in text or "getenv" in text else None
            )
            if found:
                assert found.unknown == [], f"{file}: which names are read here? {found.unknown}"
                names |= found.names
    for script in (ROOT / "deploy").iterdir():
        if script.is_file() and script.read_bytes().startswith(b"#!/bin/sh") and script.suffix != ".sh":
            names |= set(re.findall(r"\$\{?([A-Z][A-Z0-9_]+)", script.read_text()))
    return names - OUTSIDE


def wsgi(name: str) -> bool:
    return name.startswith(("HTTP_", "REQUEST_", "CONTENT_", "PATH_", "QUERY_")) or "." in name or name.islower()


def test_example_holds_exactly_what_is_read():
    listed = example_names()
    assert len(listed) == len(set(listed)), "a name stands twice"
    read = {name for name in read_names() if not wsgi(name)}
    families = {name for name in listed if FAMILY.fullmatch(name)}
    assert families, "the rate limits of families have no example"
    assert 'startswith("RATE_LIMIT_")' in (ROOT / "config" / "settings.py").read_text()
    assert set(listed) - families == read


def test_reader_finds_each_way_of_reading():
    code = (
        "import os\nNAME = 'A'\nos.environ.get(NAME)\nos.environ['B']\nos.getenv('C', '')\nenv.bool('D', default=1)\n"
        "def made(name, more):\n    return env.db_url(name)\nmade('E', 1)\nos.environ['F'] = '1'\nos.environ.get(other())\n"
    )
    found = Reads(ast.parse(code))
    assert (found.names, found.unknown) == ({"A", "B", "C", "D", "E"}, [11])


def test_example_as_it_stands_gives_working_settings(tmp_path):
    given = dict(line.split("=", 1) for line in EXAMPLE.read_text().splitlines() if NAME.match(line) and line[0] != "#")
    given |= {"SECRET_KEY": "s" * 64, "FIELD_ENCRYPTION_KEYS": f"a:{b64encode(bytes(32)).decode()}"}
    code = (
        "from config import settings as s; print(s.CELERY['broker_url'] == s.REDIS_URL, s.DATABASES['owner']['USER'])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": os.environ["PATH"], **given},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout == "True hp_runtime\n", ended.stderr
    assert "DATABASE_OWNER_URL" not in given, "web and workers must not get the owner"


def test_compose_asks_for_exactly_what_its_example_holds():
    asked = set(re.findall(r"\$\{([A-Z_]+)", (ROOT / "deploy" / "compose.yaml").read_text()))
    assert set(example_names(ROOT / "deploy" / ".env.example")) == asked
