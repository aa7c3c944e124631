"""The fingerprint of everything that shapes the database; while it is unchanged, there is nothing to migrate."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_SHAPING = re.compile(rb"post_migrate|TableSecurity|row_security|models\.Model|TenantOwned")
_NOT_OURS = {"tests", "bench", "devtools", "docs", "deploy"}


def fingerprint(root: Path = ROOT) -> str:
    """Return a digest over migrations, models, row security, installed versions and the list of apps."""
    digest = hashlib.sha256()
    for file in _files(root):
        content = file.read_bytes()
        if file.suffix != ".py" or "migrations" in file.parts or _SHAPING.search(content):
            digest.update(str(file.relative_to(root)).encode() + b"\0" + content + b"\0")
    return digest.hexdigest()


def _files(root: Path) -> Iterator[Path]:
    yield root / "requirements.txt"
    for folder in sorted(root.iterdir()):
        if folder.is_dir() and folder.name.isidentifier() and folder.name not in _NOT_OURS:
            yield from sorted(folder.rglob("*.py"))
