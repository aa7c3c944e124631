"""Tables of evidence: signed snapshots, and the checkpoints of the audit history. None is ever changed.

Each tenant has one tree that only grows: its leaves are the ends of chains, and a checkpoint signs its root.
Source: RFC 6962 section 2.1.
"""

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
    """The signed root of a tenant's tree as it was at one instant, when it had `size` leaves.

    `digest` is the SHA-256 of the JWS; the next checkpoint names it as `previous`. Personal data: none.
    """

    number = models.PositiveIntegerField()
    previous = models.CharField(max_length=64, blank=True, default="")
    size = models.PositiveBigIntegerField()
    root = models.CharField(max_length=64)
    at = models.DateTimeField()
    jws = models.TextField()
    kid = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "number"], name="prescriptions_checkpoint_once"),
        ]
        indexes = [models.Index(fields=["tenant", "kid", "number"], name="prescriptions_checkpoint_kid")]

    def __str__(self) -> str:
        return f"checkpoint {self.number}"


class CheckpointLeaf(Kept):
    """The end of one chain as a checkpoint found it. Personal data: none."""

    checkpoint_number = models.PositiveIntegerField()
    position = models.PositiveBigIntegerField()
    prescription_id = models.UUIDField()
    sequence = models.PositiveIntegerField()
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "position"], name="prescriptions_leaf_position_once"),
        ]
        indexes = [
            models.Index(fields=["tenant", "prescription_id", "sequence"], name="prescriptions_leaf_by_rx"),
        ]

    def __str__(self) -> str:
        return f"leaf {self.position}"


class CheckpointNode(Kept):
    """The digest of 2^level leaves of the tree, the `place`-th of its level; level 0 are the leaves themselves.

    It follows from the leaves, and is kept so that a proof reads as many rows as the tree is high. Personal data: none.
    """

    level = models.PositiveIntegerField()
    place = models.PositiveBigIntegerField()
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "level", "place"], name="prescriptions_node_once"),
        ]

    def __str__(self) -> str:
        return f"node {self.place} of level {self.level}"
