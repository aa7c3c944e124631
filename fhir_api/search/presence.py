"""Whether the resource is there in whose compartment a search is held. Source: R4 compartmentdefinition.html, http.html#vsearch."""

from uuid import UUID

from core.errors import Gone
from core.pipeline import Call, Rows, Statement
from fhir_api.resources.types import NUMBERS
from fhir_api.smart import Access
from fhir_api.store import Name, NoSuchResource

from .access import within
from .compile import Compiler, Place


def presence_call(tenant_id: UUID, whose: Name, access: Access) -> Call:
    """The statement that reads the version of the resource and whether it was deleted, as far as the request may see it."""
    compiler = Compiler(tenant_id)
    name = compiler.bind(whose[1], "text")
    seen = compiler.all_hold(within(access, whose[0]), Place("r.id", "r.sort_date", "r"))
    where = " AND ".join(["r.tenant_id = $1", f"r.type = {NUMBERS[whose[0]]}", f"r.fhir_id = {name}", *seen])
    sql = f"SELECT r.version::text, r.deleted::text FROM fhir_api_resource r WHERE {where}"
    return Call(Statement.composed(sql), compiler.parameters)


def check_present(rows: Rows) -> None:
    """Refuse a search in the compartment of what is not there.

    :raises NoSuchResource: there is none, or the request may not see it.
    :raises Gone: it was deleted.
    """
    if not len(rows):
        raise NoSuchResource
    version, deleted = rows.row()
    if deleted == b"true":
        raise Gone(headers={"ETag": f'W/"{(version or b"").decode()}"'})
