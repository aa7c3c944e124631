"""The code systems of medications that have a short name in addresses and files."""

RXNORM = "http://www.nlm.nih.gov/research/umls/rxnorm"
ATC = "http://www.whocc.no/atc"
NDC = "http://hl7.org/fhir/sid/ndc"
SNOMED = "http://snomed.info/sct"

# Source: FHIR R4 terminologies-systems.html.
BY_NAME = {"rxnorm": RXNORM, "atc": ATC, "ndc": NDC, "snomed": SNOMED}


def uri_of(system: str) -> str:
    """Return the address of a code system that may be given by its short name."""
    return BY_NAME.get(system.strip().lower(), system.strip())


def address_sql(column: str) -> str:
    """Return the SQL of `uri_of` for a column."""
    names = " ".join(f"WHEN '{name}' THEN '{address}'" for name, address in BY_NAME.items())
    return f"CASE lower(btrim({column})) {names} ELSE btrim({column}) END"
