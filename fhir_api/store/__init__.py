"""The store: resources with all their versions, in one tenant, as the bytes that are answered.

`models` are its tables, `versions` locks and writes, `reads` reads single versions.
"""

from .reads import NoSuchResource
from .versions import (
    Change,
    Name,
    Prepared,
    Version,
    by_name,
    columns,
    index_of_body,
    locked,
    numbered,
    prepare,
    version_of,
    versions_of,
    write,
    write_along,
    write_calls,
)

__all__ = [
    "Change",
    "Name",
    "NoSuchResource",
    "Prepared",
    "Version",
    "by_name",
    "columns",
    "index_of_body",
    "locked",
    "numbered",
    "prepare",
    "version_of",
    "versions_of",
    "write",
    "write_along",
    "write_calls",
]
