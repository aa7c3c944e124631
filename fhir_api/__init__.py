"""The clinical record: a FHIR R4 document store with its own faces."""
