"""The PostgreSQL types that values of cursors are cast to."""

from typing import Any, Final

from django.db import connection

# `text`, because a cast to varchar(n) would cut the value silently.
_CASTS: Final = {
    "CharField": "text",
    "TextField": "text",
    "FSMField": "text",
    "GeneratedField": "text",
    "DateTimeField": "timestamptz",
}


def cast_of(found: Any) -> str:
    """Return the type that values of a model's field are cast to."""
    return _CASTS.get(found.get_internal_type()) or str(found.db_type(connection))
