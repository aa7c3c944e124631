"""Batches and transactions: several interactions in one Bundle. Source: R4 http.html#transaction; contract, fhir.md point 40."""
