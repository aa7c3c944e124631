"""The store: resources with all their versions, in one tenant, as the bytes that are answered.

`models` are its tables, `versions` locks and writes, `reads` reads single versions.
"""

from .reads import NoSuchResource
from .versions import (
    Change,
    Name,
    Prepared,
    Version,
    columns,
    index_of_body,
    locked,
    numbered,
    prepare,
    version_of,
    write,
    write_along,
)

__all__ = [
    "Change",
    "Name",
    "NoSuchResource",
    "Prepared",
    "Version",
    "columns",
    "index_of_body",
    "locked",
    "numbered",
    "prepare",
    "version_of",
    "write",
    "write_along",
]
