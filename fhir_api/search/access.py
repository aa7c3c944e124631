"""What one search may see: chains, `_has` and includes are held to the same types and compartment as the matches."""

from fhir_api import compartments
from fhir_api.smart import Access
from fhir_api.store import Name

from .conditions import Condition, Keyed, Own, Test

# By number, so that the index of rows is asked for a handful of them. $1 is the tenant (`compile`).
_OWN_AND_LINKED = (
    "{row}.id = ANY(ARRAY(SELECT own.id FROM fhir_api_resource own WHERE own.tenant_id = $1 AND own.type = 1"
    " AND own.fhir_id = {} UNION ALL SELECT linked.resource_id FROM fhir_api_posting linked"
    " WHERE linked.tenant_id = $1 AND linked.key = ANY({})))"
)


def within(access: Access, type_name: str) -> tuple[Condition, ...]:
    """The conditions that hold the resources of a type to the compartment of the request's one patient, if it has one."""
    return in_compartment(access.patient, type_name) if access.patient else ()


def in_compartment(patient: str, type_name: str) -> tuple[Condition, ...]:
    """The conditions on the resources of a type in a patient's compartment; none of a type that is in nobody's."""
    if type_name in compartments.SHARED:
        return ()
    keys = compartments.keys(type_name, patient)
    if type_name == "Patient":
        return (Own(Test(_OWN_AND_LINKED, ((patient, "text"), (keys, "bigint[]"))), rare=True),)
    return (Keyed(keys, rare=True),)


def in_compartment_of(whose: Name, type_name: str) -> Condition:
    """The condition on the resources of a type in the compartment of a resource; of a type that may be in it."""
    if type_name == "Patient" and whose[0] == "Patient":
        (linked,) = in_compartment(whose[1], type_name)
        return linked
    if type_name == whose[0]:
        return Own(Test("{row}.fhir_id = {}", ((whose[1], "text"),)), rare=True)
    return Keyed(compartments.member_keys(type_name, whose), rare=True)
