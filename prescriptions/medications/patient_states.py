"""Words for states of the patient that a row of the table of interactions may name in place of an ingredient or class."""

from typing import Final

PREGNANCY: Final = "pregnancy"
LACTATION: Final = "lactation"
RENAL_IMPAIRMENT: Final = "renal impairment"
HEPATIC_IMPAIRMENT: Final = "hepatic impairment"
PATIENT_STATES: Final = frozenset({PREGNANCY, LACTATION, RENAL_IMPAIRMENT, HEPATIC_IMPAIRMENT})
