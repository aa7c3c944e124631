"""Price lists and their entries."""

import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0010_failures_by_network'),
        ('suppliers', '0022_relationships'),
    ]

    operations = [
        migrations.CreateModel(
            name='PriceList',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('code', models.CharField(max_length=64)),
                ('name', models.CharField(max_length=255)),
                ('currency', models.CharField(max_length=3)),
                ('status', models.CharField(choices=[('draft', 'Draft'), ('active', 'Active'), ('archived', 'Archived')], default='draft', max_length=8)),
                ('valid_from', models.DateField(null=True)),
                ('valid_to', models.DateField(null=True)),
                ('priority', models.PositiveIntegerField(default=0)),
                ('scope', models.CharField(choices=[('public', 'Everybody'), ('tenants', 'Buyers'), ('organizations', 'Organizations and what is below them'), ('groups', "Groups of the supplier's profile")], default='public', max_length=13)),
                ('audience_id', models.UUIDField(default='00000000-0000-0000-0000-000000000000')),
                ('entry_count', models.PositiveIntegerField(default=0)),
                ('on_market', models.GeneratedField(db_persist=True, expression=models.Q(('status', 'active')), output_field=models.BooleanField())),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='PriceListEntry',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('price_base_quantity', models.PositiveIntegerField(default=1)),
                ('tiers', models.JSONField()),
                ('packaging', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.packaging')),
                ('price_list', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='suppliers.pricelist')),
                ('product', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.product')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.AddIndex(
            model_name='pricelist',
            index=models.Index(fields=['tenant', 'created_at', 'id'], name='suppliers_pricelist_by_created'),
        ),
        migrations.AddIndex(
            model_name='pricelist',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_pricelist_by_updated'),
        ),
        migrations.AddConstraint(
            model_name='pricelist',
            constraint=models.UniqueConstraint(fields=('tenant', 'code'), name='suppliers_pricelist_code_taken'),
        ),
        migrations.AddConstraint(
            model_name='pricelist',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['draft', 'active', 'archived'])), name='suppliers_pricelist_status_known'),
        ),
        migrations.AddConstraint(
            model_name='pricelist',
            constraint=models.CheckConstraint(condition=models.Q(('priority__lte', 1000)), name='suppliers_pricelist_priority'),
        ),
        migrations.AddConstraint(
            model_name='pricelist',
            constraint=models.CheckConstraint(condition=models.Q(('valid_from__isnull', True), ('valid_to__isnull', True), ('valid_to__gt', models.F('valid_from')), _connector='OR'), name='suppliers_pricelist_validity'),
        ),
        migrations.AddConstraint(
            model_name='pricelist',
            constraint=models.CheckConstraint(condition=models.Q(('scope__in', ['public', 'tenants', 'organizations', 'groups']), models.Q(('scope', 'public'), models.Q(('audience_id', '00000000-0000-0000-0000-000000000000'), _negated=True), _connector='XOR')), name='suppliers_pricelist_audience'),
        ),
        migrations.AddIndex(
            model_name='pricelistentry',
            index=models.Index(fields=['tenant', 'packaging', 'price_list'], name='suppliers_entry_by_packaging'),
        ),
        migrations.AddConstraint(
            model_name='pricelistentry',
            constraint=models.UniqueConstraint(fields=('tenant', 'price_list', 'packaging'), name='suppliers_pricelistentry_once'),
        ),
        migrations.AddConstraint(
            model_name='pricelistentry',
            constraint=models.CheckConstraint(condition=models.Q(('price_base_quantity__gte', 1), models.Q(('tiers', []), _negated=True)), name='suppliers_pricelistentry_amounts'),
        ),
    ]
