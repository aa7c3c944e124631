"""One function binds: outside `core/db.py` nothing of the service sets the tenant, the subject, the locations or the role."""

import re

import pytest

from tests.architecture.contracts import ROOT, root_packages

BINDS = re.compile(r"set_config\(\s*'(role|app\.)|\bSET\s+(LOCAL\s+|SESSION\s+)?ROLE\b")
FILES = sorted(
    path
    for package in root_packages()
    for path in (ROOT / package).rglob("*.py")
    if "migrations" not in path.parts and path != ROOT / "core" / "db.py"
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_binds_beside_the_one_function(path):
    assert not BINDS.search(path.read_text())


@pytest.mark.parametrize(
    "sql",
    ["SELECT set_config('role', %s, true)", "SELECT set_config('app.tenant_id', $1, true)", "SET LOCAL ROLE hp_app"],
)
def test_planted_binding_is_found(sql):
    assert BINDS.search(sql)
