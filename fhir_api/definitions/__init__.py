"""Facts of R4 (hl7.fhir.r4.core 4.0.1, CC0-1.0): generated from its definitions, and the look-ups in them."""
