"""Makes the tables of notifications; the notifications themselves are cut into months.

Until the upkeep has made months ahead, rows lie in the default partition. Safe: the tables are new.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import core.clock
import core.ids
import suppliers.notifications.models

ALERTS = (
    "'recall', 'temperature_excursion', 'low_stock', 'expiring_lot', 'acceptance_overdue', 'approval_overdue',"
    " 'license_expiring', 'suspect_goods', 'invoice_mismatched', 'key_compromised', 'stock_not_booked', 'proof_failed'"
)
NOTIFICATIONS = f"""
CREATE TABLE suppliers_notification (
  id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT statement_timestamp(),
  version integer NOT NULL DEFAULT 1 CHECK (version >= 0),
  tenant_id uuid NOT NULL,
  kind varchar(7) NOT NULL,
  type varchar(24) NOT NULL,
  severity varchar(8) NOT NULL,
  title varchar(200) NOT NULL,
  body varchar(5000) NOT NULL,
  resource_type varchar(24) NOT NULL,
  resource_id varchar(64) NOT NULL,
  thread_id uuid,
  from_tenant_id uuid,
  sender_id uuid,
  location_id uuid,
  files jsonb NOT NULL,
  in_app boolean NOT NULL DEFAULT true,
  acknowledged_at timestamptz,
  acknowledged_by uuid,
  archived_at timestamptz,
  closed_at timestamptz,
  PRIMARY KEY (created_at, id),
  CONSTRAINT suppliers_notification_severity CHECK (severity IN ('info', 'warning', 'critical')),
  CONSTRAINT suppliers_notification_kind CHECK (
    kind = 'message' AND type = 'message' AND thread_id IS NOT NULL AND from_tenant_id IS NOT NULL
    OR kind = 'alert' AND type IN ({ALERTS}) AND thread_id IS NULL AND from_tenant_id IS NULL AND sender_id IS NULL),
  CONSTRAINT suppliers_notification_acknowledged CHECK (
    acknowledged_at IS NULL AND acknowledged_by IS NULL
    OR kind = 'alert' AND acknowledged_at IS NOT NULL AND acknowledged_by IS NOT NULL),
  CONSTRAINT suppliers_notification_closed CHECK (closed_at IS NULL OR kind = 'alert')
) PARTITION BY RANGE (created_at)
"""
CURRENT = "archived_at IS NULL AND in_app"
INDEXES = [
    f"CREATE INDEX {name} ON suppliers_notification ({columns}){where and f' WHERE {where}'}"
    for name, columns, where in (
        ("suppliers_notif_by_id", "tenant_id, id", ""),
        ("suppliers_notif_current", "tenant_id, created_at, id", CURRENT),
        ("suppliers_notif_by_type", "tenant_id, type, created_at, id", CURRENT),
        ("suppliers_notif_archived", "tenant_id, created_at, id", "archived_at IS NOT NULL AND in_app"),
        ("suppliers_notif_open", "tenant_id, created_at, id", f"kind = 'alert' AND closed_at IS NULL AND {CURRENT}"),
        ("suppliers_notif_updated", "tenant_id, updated_at, id", ""),
        ("suppliers_notif_thread", "tenant_id, thread_id, created_at, id", "thread_id IS NOT NULL"),
    )
]
EVERYBODY = "PUBLIC, hp_app, hp_dispatcher, hp_runtime, hp_platform"


class Migration(migrations.Migration):
    """Six tables."""

    dependencies = [
        ("organizations", "0011_managed_tenants"),
        ("suppliers", "0028_terms_in_force"),
        ("webhooks", "0006_history_functions"),
    ]

    operations = [
        migrations.CreateModel(
            name="NotificationCounter",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant_id", "state", "stripe", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("tenant_id", models.UUIDField()),
                ("state", models.CharField(choices=[("current", "Current"), ("archived", "Archived")], max_length=8)),
                ("stripe", models.SmallIntegerField()),
                ("notifications", models.BigIntegerField()),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="NotificationRead",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant_id",
                        "subject_id",
                        "notification_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("tenant_id", models.UUIDField()),
                ("subject_id", models.UUIDField()),
                ("notification_id", models.UUIDField()),
                ("read_at", models.DateTimeField()),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="OpenAlert",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant_id",
                        "type",
                        "resource_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("tenant_id", models.UUIDField()),
                (
                    "type",
                    models.CharField(
                        choices=[
                            ("message", "Message"),
                            ("recall", "Recall"),
                            ("temperature_excursion", "Temperature Excursion"),
                            ("low_stock", "Low Stock"),
                            ("expiring_lot", "Expiring Lot"),
                            ("acceptance_overdue", "Acceptance Overdue"),
                            ("approval_overdue", "Approval Overdue"),
                            ("license_expiring", "License Expiring"),
                            ("suspect_goods", "Suspect Goods"),
                            ("invoice_mismatched", "Invoice Mismatched"),
                            ("key_compromised", "Key Compromised"),
                            ("stock_not_booked", "Stock Not Booked"),
                            ("proof_failed", "Proof Failed"),
                        ],
                        max_length=24,
                    ),
                ),
                ("resource_id", models.CharField(max_length=64)),
                ("notification_id", models.UUIDField()),
                (
                    "severity",
                    models.CharField(
                        choices=[("info", "Info"), ("warning", "Warning"), ("critical", "Critical")], max_length=8
                    ),
                ),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "open alert",
            },
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    [
                        NOTIFICATIONS,
                        "CREATE TABLE suppliers_notification_rest PARTITION OF suppliers_notification DEFAULT",
                        f"REVOKE ALL ON suppliers_notification_rest FROM {EVERYBODY}",
                        *INDEXES,
                    ],
                    ["DROP TABLE suppliers_notification"],
                )
            ],
            state_operations=[
                migrations.CreateModel(
                    name="Notification",
                    fields=[
                        (
                            "updated_at",
                            models.DateTimeField(
                                db_default=django.db.models.functions.datetime.Now(), default=core.clock.now
                            ),
                        ),
                        ("version", models.PositiveIntegerField(db_default=1, default=1)),
                        (
                            "id",
                            models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False),
                        ),
                        (
                            "created_at",
                            models.DateTimeField(
                                db_default=django.db.models.functions.datetime.Now(), default=core.clock.now
                            ),
                        ),
                        ("tenant_id", models.UUIDField()),
                        ("kind", models.CharField(choices=[("message", "Message"), ("alert", "Alert")], max_length=7)),
                        (
                            "type",
                            models.CharField(
                                choices=[
                                    ("message", "Message"),
                                    ("recall", "Recall"),
                                    ("temperature_excursion", "Temperature Excursion"),
                                    ("low_stock", "Low Stock"),
                                    ("expiring_lot", "Expiring Lot"),
                                    ("acceptance_overdue", "Acceptance Overdue"),
                                    ("approval_overdue", "Approval Overdue"),
                                    ("license_expiring", "License Expiring"),
                                    ("suspect_goods", "Suspect Goods"),
                                    ("invoice_mismatched", "Invoice Mismatched"),
                                    ("key_compromised", "Key Compromised"),
                                    ("stock_not_booked", "Stock Not Booked"),
                                    ("proof_failed", "Proof Failed"),
                                ],
                                max_length=24,
                            ),
                        ),
                        (
                            "severity",
                            models.CharField(
                                choices=[("info", "Info"), ("warning", "Warning"), ("critical", "Critical")],
                                max_length=8,
                            ),
                        ),
                        ("title", models.CharField(max_length=200)),
                        ("body", models.CharField(max_length=5000)),
                        ("resource_type", models.CharField(max_length=24)),
                        ("resource_id", models.CharField(max_length=64)),
                        ("thread_id", models.UUIDField(null=True)),
                        ("from_tenant_id", models.UUIDField(null=True)),
                        ("sender_id", models.UUIDField(null=True)),
                        ("location_id", models.UUIDField(null=True)),
                        ("files", models.JSONField(default=list)),
                        ("in_app", models.BooleanField(db_default=True, default=True)),
                        ("acknowledged_at", models.DateTimeField(null=True)),
                        ("acknowledged_by", models.UUIDField(null=True)),
                        ("archived_at", models.DateTimeField(null=True)),
                        ("closed_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["tenant_id", "id"], name="suppliers_notif_by_id"),
                            models.Index(
                                condition=models.Q(("archived_at__isnull", True), ("in_app", True)),
                                fields=["tenant_id", "created_at", "id"],
                                name="suppliers_notif_current",
                            ),
                            models.Index(
                                condition=models.Q(("archived_at__isnull", True), ("in_app", True)),
                                fields=["tenant_id", "type", "created_at", "id"],
                                name="suppliers_notif_by_type",
                            ),
                            models.Index(
                                condition=models.Q(("archived_at__isnull", False), ("in_app", True)),
                                fields=["tenant_id", "created_at", "id"],
                                name="suppliers_notif_archived",
                            ),
                            models.Index(
                                condition=models.Q(
                                    ("archived_at__isnull", True),
                                    ("closed_at__isnull", True),
                                    ("in_app", True),
                                    ("kind", "alert"),
                                ),
                                fields=["tenant_id", "created_at", "id"],
                                name="suppliers_notif_open",
                            ),
                            models.Index(fields=["tenant_id", "updated_at", "id"], name="suppliers_notif_updated"),
                            models.Index(
                                condition=models.Q(("thread_id__isnull", False)),
                                fields=["tenant_id", "thread_id", "created_at", "id"],
                                name="suppliers_notif_thread",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("severity__in", ["info", "warning", "critical"])),
                                name="suppliers_notification_severity",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(
                                        ("from_tenant_id__isnull", False),
                                        ("kind", "message"),
                                        ("thread_id__isnull", False),
                                        ("type", "message"),
                                    ),
                                    models.Q(
                                        ("from_tenant_id__isnull", True),
                                        ("kind", "alert"),
                                        ("sender_id__isnull", True),
                                        ("thread_id__isnull", True),
                                        (
                                            "type__in",
                                            [
                                                "recall",
                                                "temperature_excursion",
                                                "low_stock",
                                                "expiring_lot",
                                                "acceptance_overdue",
                                                "approval_overdue",
                                                "license_expiring",
                                                "suspect_goods",
                                                "invoice_mismatched",
                                                "key_compromised",
                                                "stock_not_booked",
                                                "proof_failed",
                                            ],
                                        ),
                                    ),
                                    _connector="OR",
                                ),
                                name="suppliers_notification_kind",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("acknowledged_at__isnull", True), ("acknowledged_by__isnull", True)),
                                    models.Q(
                                        ("acknowledged_at__isnull", False),
                                        ("acknowledged_by__isnull", False),
                                        ("kind", "alert"),
                                    ),
                                    _connector="OR",
                                ),
                                name="suppliers_notification_acknowledged",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("closed_at__isnull", True), ("kind", "alert"), _connector="OR"),
                                name="suppliers_notification_closed",
                            ),
                        ],
                    },
                ),
            ],
        ),
        migrations.CreateModel(
            name="NotificationMail",
            fields=[
                (
                    "updated_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now),
                ),
                ("version", models.PositiveIntegerField(db_default=1, default=1)),
                ("id", models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False
                    ),
                ),
                ("notification_id", models.UUIDField()),
                ("due_at", models.DateTimeField()),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="organizations.tenant",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["due_at", "tenant"], name="suppliers_notifmail_due"),
                    models.Index(fields=["tenant", "due_at", "id"], name="suppliers_notifmail_of"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "notification_id"), name="suppliers_notificationmail_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="NotificationPreference",
            fields=[
                (
                    "updated_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now),
                ),
                ("version", models.PositiveIntegerField(db_default=1, default=1)),
                ("id", models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False
                    ),
                ),
                ("channels", models.JSONField(default=dict)),
                (
                    "expiry_days",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.SmallIntegerField(),
                        default=suppliers.notifications.models._default_days,
                        size=None,
                    ),
                ),
                ("low_stock_default", models.BigIntegerField(null=True)),
                (
                    "digest",
                    models.CharField(
                        choices=[("immediate", "Immediate"), ("hourly", "Hourly"), ("daily", "Daily")],
                        default="immediate",
                        max_length=9,
                    ),
                ),
                ("quiet_from", models.TimeField(null=True)),
                ("quiet_to", models.TimeField(null=True)),
                ("quiet_zone", models.CharField(blank=True, default="", max_length=64)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="organizations.tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "notification preferences",
                "constraints": [
                    models.UniqueConstraint(fields=("tenant",), name="suppliers_notificationpref_once"),
                    models.CheckConstraint(
                        condition=models.Q(("digest__in", ["immediate", "hourly", "daily"])),
                        name="suppliers_notificationpref_digest",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("low_stock_default__isnull", True), ("low_stock_default__gte", 0), _connector="OR"
                        ),
                        name="suppliers_notificationpref_low_stock",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("quiet_from__isnull", True), ("quiet_to__isnull", True), ("quiet_zone", "")),
                            models.Q(
                                ("quiet_from__isnull", False),
                                ("quiet_to__isnull", False),
                                models.Q(("quiet_zone", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="suppliers_notificationpref_quiet",
                    ),
                ],
            },
        ),
    ]
