"""What a person or a service is called, in one statement for another trip."""

from uuid import UUID

from core.pipeline import Call, Rows, Statement

_NAME = Statement.of(
    "SELECT coalesce((SELECT nullif(name, '') FROM organizations_user WHERE id = $1),"
    " (SELECT email FROM organizations_user WHERE id = $1),"
    " (SELECT name FROM organizations_serviceaccount WHERE id = $1), '') AS name"
)


def display_name_call(subject_id: UUID) -> Call:
    """Return the call that reads a subject's name, else their address; `display_name_of` reads its rows."""
    return Call(_NAME, [str(subject_id)])


def display_name_of(rows: Rows) -> str:
    """Return the name; "" for nobody, as for the platform itself."""
    return (rows.value() or b"").decode()
