"""The body of the endpoint that verifies a signature, and the forms of what evidence endpoints answer."""

from typing import Any, ClassVar

from rest_framework import serializers

from api.representations import Instant, OpenChoice
from api.serializers import StrictSerializer

from .trust import KEY_STATUSES

LONGEST_JWS = 200_000
_STATUS = "What the key was at the time that the signature names."
_DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


class VerifyIn(StrictSerializer):
    """A signed snapshot as somebody received it."""

    jws = serializers.CharField(max_length=LONGEST_JWS, help_text="The JWS in compact form.")

    class Meta:
        example: ClassVar[dict[str, Any]] = {"jws": "eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl"}


class _Form(serializers.Serializer[Any]):
    """An object that is answered as it is made."""


class SignedSnapshotOut(_Form):
    """A signed snapshot; the JWS and the published keys are all that a receiver needs."""

    jws = serializers.CharField()
    digest = serializers.CharField(help_text="SHA-256 of the text.")
    kid = serializers.CharField()
    schema = serializers.CharField()
    text = serializers.CharField(help_text="The canonical text that was signed.")

    class Meta:
        example: ClassVar = {"schema": "hp.prescription.snapshot/1", "digest": _DIGEST}


class AttestationForm(_Form):
    """What the prescriber declares by signing."""

    version = serializers.CharField()
    text = serializers.CharField()


class SigningPayloadOut(_Form):
    """The content that a key of one's own signs: a detached JWS over `text`."""

    text = serializers.CharField()
    digest = serializers.CharField(help_text="SHA-256 of the text.")
    version = serializers.IntegerField()
    run_id = serializers.UUIDField(help_text="The validation run that the text names.")
    attestation = AttestationForm()

    class Meta:
        example: ClassVar = {"digest": _DIGEST, "version": 2}


class InclusionForm(_Form):
    """The checkpoint that holds the end of the history, and whether it truly does."""

    number = serializers.IntegerField()
    at = Instant()
    included = serializers.BooleanField()


class VerificationOut(_Form):
    """What of a signed prescription holds."""

    digest_ok = serializers.BooleanField(help_text="Text, digest and what was signed are one.")
    signature_ok = serializers.BooleanField()
    kid = serializers.CharField()
    key_status_at_signing = OpenChoice(choices=KEY_STATUSES, help_text=_STATUS)
    trusted = serializers.BooleanField(
        help_text="The signature holds, and a compromised key signed before a checkpoint sealed it."
    )
    external_signature_ok = serializers.BooleanField(
        allow_null=True, help_text="Whether the prescriber's own signature holds; null where there is none."
    )
    row_matches_snapshot = serializers.BooleanField()
    chain_ok = serializers.BooleanField()
    chain_length = serializers.IntegerField()
    checkpoint = InclusionForm(allow_null=True)

    class Meta:
        example: ClassVar = {"key_status_at_signing": "active", "trusted": True}


class VerifiedJwsOut(_Form):
    """What is known of a presented signature."""

    signature_ok = serializers.BooleanField()
    kid = serializers.CharField(allow_null=True, help_text="The key that the header names.")
    key_status_at_signing = OpenChoice(
        choices=KEY_STATUSES, allow_null=True, help_text=f"{_STATUS} Null where the signature does not hold."
    )
    trusted = serializers.BooleanField()
    payload = serializers.DictField(allow_null=True, help_text="What was signed; null where the signature fails.")

    class Meta:
        example: ClassVar = {"key_status_at_signing": "active", "trusted": True, "payload": None}


class EvidenceSnapshotForm(SignedSnapshotOut):
    """The signed snapshot, and the prescriber's own signature."""

    external_signature = serializers.CharField(allow_null=True)


class EvidenceKeyForm(_Form):
    """The public half of a key that signed."""

    purpose = OpenChoice(choices=["snapshot", "checkpoint"])
    jwk = serializers.DictField()
    created_at = Instant()
    retired_at = Instant(allow_null=True)
    compromised_at = Instant(allow_null=True)


class EvidenceCheckpointForm(_Form):
    """The checkpoint that holds the end of the history, with the proof."""

    jws = serializers.CharField()
    leaf = serializers.DictField()
    position = serializers.IntegerField()
    path = serializers.ListField(child=serializers.CharField())


class EvidenceConsistencyForm(_Form):
    """The newest checkpoint, with the proof that its tree continues that of the other."""

    jws = serializers.CharField()
    proof = serializers.ListField(child=serializers.CharField())


class EvidenceOut(_Form):
    """The evidence of a prescription in one document, to be checked offline; see docs/evidence.md."""

    schema = serializers.CharField()
    tenant_id = serializers.UUIDField()
    prescription_id = serializers.UUIDField()
    snapshot = EvidenceSnapshotForm()
    chain = serializers.ListField(child=serializers.DictField(), help_text="The whole audit history, oldest first.")
    dispensations = serializers.ListField(child=serializers.DictField())
    checkpoint = EvidenceCheckpointForm(allow_null=True)
    consistency = EvidenceConsistencyForm(allow_null=True)
    keys = serializers.DictField(child=EvidenceKeyForm())

    class Meta:
        example: ClassVar = {"schema": "hp.prescription.evidence/1", "chain": [], "dispensations": [], "keys": {}}
