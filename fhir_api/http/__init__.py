"""HTTP of the FHIR interface: what requests say and answers bear, in R4's forms."""
