"""The content that a prescriber would sign now."""

from fhir_api.public import PatientNotFound
from prescriptions.lifecycle.targets import LockedPrescription
from prescriptions.validation.inputs import Inputs

from .snapshots import Json, content_of, patient_shown, prescriber_shown


def content_for(target: LockedPrescription, inputs: Inputs) -> Json:
    """Return the content that would be signed now, of what a run has read.

    :raises PatientNotFound: there is no such patient any more.
    """
    if inputs.record.patient is None:
        raise PatientNotFound
    prescriber = prescriber_shown(inputs.prescriber.practitioner, target.witness.display, inputs.today)
    return content_of(
        target.row, target.items, patient_shown(inputs.record.patient), prescriber, target.settings_version
    )
