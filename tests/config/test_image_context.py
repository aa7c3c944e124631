"""What `docker build` would send into the image, judged by the patterns of `.dockerignore` over a checkout with secrets.

Docker itself is not asked, so that the test runs everywhere; the rules are those of its documentation: patterns in their
order, the last that matches decides, a pattern matches a folder's whole content.
Source: https://docs.docker.com/build/concepts/context/#dockerignore-files
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from devtools.places import ROOT

SECRET = "the-secret-of-this-test"
PLACES = (
    "deploy/.env",
    "deploy/service.env",
    ".env",
    "config/.env",
    "config/.env.production",
    "organizations/oauth/.env",
    ".local/secrets.json",
    ".local/demo.json",
    "id_rsa",
    "dump.sql",
    "notes/keys.txt",
    "deploy/kubernetes/secret.yaml",
    "api/.local/secrets.json",
    "core/debug.log",
)


def rules(file: Path) -> list[tuple[bool, re.Pattern[str]]]:
    found = []
    for line in file.read_text().splitlines():
        if not (text := line.strip()) or text.startswith("#"):
            continue
        again, pattern = text.startswith("!"), text.removeprefix("!").strip("/")
        found.append((again, re.compile(expression(pattern))))
    return found


def expression(pattern: str) -> str:
    """Return the regular expression of one pattern, as Docker's matcher makes it; it matches all below a folder too."""
    made = ""
    for part in re.split(r"(\*\*/|\*\*|\*|\?)", pattern):
        made += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(part, re.escape(part))
    return f"^{made}(?:/.*)?$"


def enters(path: str, given: list[tuple[bool, re.Pattern[str]]]) -> bool:
    inside = True
    for again, pattern in given:
        if pattern.match(path):
            inside = again
    return inside


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Return a checkout as git has it, with secrets lying in it."""
    folder = tmp_path_factory.mktemp("image") / "checkout"
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for name in PLACES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(SECRET)
    return folder


@pytest.fixture(scope="module")
def image(checkout, tmp_path_factory):
    """Return the folder that `COPY . .` would make."""
    folder = tmp_path_factory.mktemp("image") / "app"
    given = rules(checkout / ".dockerignore")
    for file in sorted(checkout.rglob("*")):
        name = str(file.relative_to(checkout))
        if file.is_file() and enters(name, given):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, folder / name)
    return folder


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*", "deploy/.env", True),
        ("api", "api/docs.py", True),
        ("api", "fhir_api/docs.py", False),
        ("**/.env", ".env", True),
        ("**/.env", "a/b/.env", True),
        ("**/.env", "a/.environment", False),
        ("**/.env.*", "a/.env.production", True),
        ("deploy/web", "deploy/web", True),
        ("**/*.pyc", "api/__pycache__/docs.pyc", True),
    ],
)
def test_patterns_mean_what_they_mean_to_docker(pattern, path, matches):
    assert bool(re.match(expression(pattern), path)) is matches


def test_no_secret_of_the_checkout_enters_the_image(image):
    holding = [
        str(file.relative_to(image))
        for file in image.rglob("*")
        if file.is_file() and SECRET.encode() in file.read_bytes()
    ]
    assert holding == []


def test_image_holds_nothing_beside_the_service(image):
    assert {entry.name for entry in image.iterdir()} == {
        *("requirements.txt", "manage.py", "deploy"),
        *(
            folder.name
            for folder in ROOT.iterdir()
            if (folder / "__init__.py").exists() and folder.name not in {"tests", "bench", "devtools"}
        ),
    }
    assert {file.name for file in (image / "deploy").iterdir()} == {"web", "worker", "bulk", "dispatcher", "beat"}
    for name in ("web", "worker", "bulk", "dispatcher", "beat"):
        assert os.access(image / "deploy" / name, os.X_OK), name


def test_service_runs_from_what_the_image_holds(image, service_environment):
    environment = {name: value for name, value in service_environment.items() if name != "PYTHONPATH"}
    for command in (
        ["manage.py", "check"],
        ["manage.py", "prepare", "--help"],
        ["-c", "import config.serving, config.celery"],
    ):
        ended = subprocess.run(
            [sys.executable, *command], cwd=image, env=environment, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stderr


def test_git_ignores_what_holds_secrets(checkout):
    names = [
        name
        for name in PLACES
        if Path(name).name.startswith(".env") or Path(name).suffix == ".env" or name.startswith(".local")
    ]
    told = subprocess.run(
        ["git", "check-ignore", "--no-index", *names], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert sorted(told.stdout.split()) == sorted(names)
    shown = subprocess.run(
        ["git", "check-ignore", "--no-index", ".env.example", "deploy/.env.example"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.stdout == ""
