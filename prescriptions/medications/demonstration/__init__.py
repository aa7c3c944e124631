"""The platform's demonstration tables, loaded after every migration (`post_migrate`) until a real table is loaded.

They are not for clinical use; `README.md` beside this file says what they hold and where it comes from.
"""

import hashlib
from pathlib import Path

from core import clock
from prescriptions.medications.csv_files import rows_of_file
from prescriptions.medications.loading import Target, current_version, load
from prescriptions.medications.tables import TABLES

FOLDER = Path(__file__).parent
SOURCE = "demonstration, not for clinical use"
# Of the files together. A database is migrated anew when a file of Python changes, so it stands here.
DIGEST = "afce3a446d5108e4cc8136252cf132f96eca32ed5b32b6baba167ab7fd4aeb85"


def seed_demonstration(using: str) -> None:
    """Load the demonstration tables; a table that holds a real release stays as it is."""
    target = Target(demonstration=True, using=using)
    for table in TABLES.values():
        current = current_version(table, target)
        if current is None or current.demonstration:
            load(table, rows_of_file(table, FOLDER / f"{table.name}.csv"), target, source=SOURCE, at=clock.now())


def digest_of_files() -> str:
    """Return the digest of the files, in the order of their names."""
    content = b"".join(path.name.encode() + b"\0" + path.read_bytes() for path in sorted(FOLDER.glob("*.csv")))
    return hashlib.sha256(content).hexdigest()
