"""What the market's role reads: marks on products, packagings, prices and offers; audiences; search terms by audience.

Safe: the two generated columns rewrite the tables of products and offers once, before anybody trades by them; the other
columns have constant defaults.
"""

import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    """Columns and tables; `0011_market_filled` fills them."""

    dependencies = [
        ("organizations", "0010_failures_by_network"),
        ("suppliers", "0009_lots_by_expiry_and_origin"),
    ]

    operations = [
        migrations.CreateModel(
            name="Audience",
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
                ("digest", models.CharField(max_length=64)),
                ("tenant_ids", models.JSONField(default=list)),
                ("organization_ids", models.JSONField(default=list)),
                ("group_codes", models.JSONField(default=list)),
            ],
        ),
        migrations.CreateModel(
            name="AudienceOrganization",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant_id",
                        "organization_id",
                        "audience_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("tenant_id", models.UUIDField()),
                ("organization_id", models.UUIDField()),
                ("audience_id", models.UUIDField()),
            ],
        ),
        migrations.CreateModel(
            name="MarketWord",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "audience_id",
                        "word",
                        "tenant_id",
                        "product_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("audience_id", models.UUIDField()),
                ("word", models.CharField(db_collation="C", max_length=64)),
                ("tenant_id", models.UUIDField()),
                ("product_id", models.UUIDField()),
            ],
        ),
        migrations.AddField(
            model_name="listprice",
            name="on_market",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="offer",
            name="limit_period_days",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="offer",
            name="limit_quantity",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="offer",
            name="limit_until",
            field=models.DateField(null=True),
        ),
        migrations.AddField(
            model_name="offer",
            name="on_market",
            field=models.GeneratedField(
                db_persist=True, expression=models.Q(("status", "published")), output_field=models.BooleanField()
            ),
        ),
        migrations.AddField(
            model_name="packaging",
            name="on_market",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="product",
            name="offered",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name="audiencemember",
            index=models.Index(fields=["member_tenant_id", "audience_id"], name="suppliers_audience_of_member"),
        ),
        migrations.AddField(
            model_name="product",
            name="on_market",
            field=models.GeneratedField(
                db_persist=True,
                expression=models.Q(("offered", True), ("status", "active")),
                output_field=models.BooleanField(),
            ),
        ),
        migrations.AddIndex(
            model_name="product",
            index=models.Index(
                condition=models.Q(("on_market", True)), fields=["created_at", "id"], name="suppliers_market_by_created"
            ),
        ),
        migrations.AddIndex(
            model_name="product",
            index=models.Index(
                condition=models.Q(("on_market", True)), fields=["updated_at", "id"], name="suppliers_market_by_updated"
            ),
        ),
        migrations.AddIndex(
            model_name="product",
            index=models.Index(
                condition=models.Q(("on_market", True)), fields=["name_sort", "id"], name="suppliers_market_by_name"
            ),
        ),
        migrations.AddConstraint(
            model_name="offer",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("limit_period_days__isnull", True),
                        ("limit_quantity__isnull", True),
                        ("limit_until__isnull", True),
                    ),
                    models.Q(
                        ("limit_period_days__range", (1, 90)),
                        ("limit_quantity__gte", 1),
                        ("limit_until__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="suppliers_offer_limit_whole",
            ),
        ),
        migrations.AddField(
            model_name="audience",
            name="tenant",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="organizations.tenant"
            ),
        ),
        migrations.AddIndex(
            model_name="packaging",
            index=models.Index(condition=models.Q(("on_market", True)), fields=["gtin"], name="suppliers_market_by_gtin"),
        ),
        migrations.AddIndex(
            model_name="offer",
            index=models.Index(
                condition=models.Q(("on_market", True)), fields=["product", "id"], name="suppliers_market_offers"
            ),
        ),
        migrations.AddIndex(
            model_name="audienceorganization",
            index=models.Index(fields=["organization_id"], name="suppliers_audience_of_org"),
        ),
        migrations.AddIndex(
            model_name="marketword",
            index=models.Index(fields=["tenant_id", "product_id", "word"], name="suppliers_marketword_of"),
        ),
        migrations.AddConstraint(
            model_name="audience",
            constraint=models.UniqueConstraint(fields=("tenant", "digest"), name="suppliers_audience_once"),
        ),
    ]
