"""Tables of evidence: signed snapshots, and the checkpoints of the audit history. None is ever changed."""

from django.db import models

from prescriptions.lifecycle.chain_models import Kept


class Snapshot(Kept):
    """The signed prescription: canonical text and JWS, sealed with a key of the tenant, and the digest of the text.

    Personal data: the whole prescription, sealed.
    """

    prescription_id = models.UUIDField()
    schema = models.CharField(max_length=40)
    text = models.TextField()
    jws = models.TextField()
    digest = models.CharField(max_length=64)
    kid = models.CharField(max_length=64)
    external_signature = models.TextField(blank=True, default="")
    signed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "prescription_id"], name="prescriptions_snapshot_once"),
        ]
        indexes = [models.Index(fields=["tenant", "kid", "signed_at"], name="prescriptions_snapshot_by_kid")]

    def __str__(self) -> str:
        return self.digest


class Checkpoint(Kept):
    """The signed root of a tree over the ends of the chains that have changed since the last one. Source: RFC 6962.

    Personal data: none.
    """

    number = models.PositiveIntegerField()
    previous = models.CharField(max_length=64, blank=True, default="")
    size = models.PositiveIntegerField()
    root = models.CharField(max_length=64)
    at = models.DateTimeField()
    jws = models.TextField()
    kid = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "number"], name="prescriptions_checkpoint_once"),
        ]

    def __str__(self) -> str:
        return f"checkpoint {self.number}"


class CheckpointLeaf(Kept):
    """The end of one chain at a checkpoint. Personal data: none."""

    checkpoint_number = models.PositiveIntegerField()
    position = models.PositiveIntegerField()
    prescription_id = models.UUIDField()
    sequence = models.PositiveIntegerField()
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "position"], name="prescriptions_leaf_position_once"),
        ]
        indexes = [
            models.Index(fields=["tenant", "prescription_id", "sequence"], name="prescriptions_leaf_by_rx"),
            models.Index(fields=["tenant", "checkpoint_number", "position"], name="prescriptions_leaf_by_number"),
        ]

    def __str__(self) -> str:
        return f"leaf {self.position}"
