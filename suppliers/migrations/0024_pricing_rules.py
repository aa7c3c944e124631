"""Pricing rules."""

import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0010_failures_by_network'),
        ('suppliers', '0023_price_lists'),
    ]

    operations = [
        migrations.CreateModel(
            name='PricingRule',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('code', models.CharField(max_length=64)),
                ('name', models.CharField(max_length=255)),
                ('status', models.CharField(choices=[('draft', 'Draft'), ('active', 'Active'), ('archived', 'Archived')], default='draft', max_length=8)),
                ('priority', models.PositiveIntegerField(default=0)),
                ('valid_from', models.DateField(null=True)),
                ('valid_to', models.DateField(null=True)),
                ('conditions', models.JSONField(default=dict)),
                ('audience_id', models.UUIDField(default='00000000-0000-0000-0000-000000000000')),
                ('action_type', models.CharField(choices=[('percent', 'So many percent off'), ('amount_off', 'An amount off'), ('fixed_price', 'Another price'), ('markup', 'So many percent on top')], max_length=11)),
                ('action_value', models.DecimalField(decimal_places=6, max_digits=19)),
                ('floor_price', models.DecimalField(decimal_places=6, max_digits=19, null=True)),
                ('exclusive', models.BooleanField(default=False)),
                ('applies_to_offers', models.BooleanField(default=False)),
                ('on_market', models.GeneratedField(db_persist=True, expression=models.Q(('status', 'active')), output_field=models.BooleanField())),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'indexes': [models.Index(fields=['tenant', 'created_at', 'id'], name='suppliers_pricingrule_created'), models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_pricingrule_updated')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'code'), name='suppliers_pricingrule_code_taken'), models.CheckConstraint(condition=models.Q(('status__in', ['draft', 'active', 'archived'])), name='suppliers_pricingrule_status_known'), models.CheckConstraint(condition=models.Q(('priority__lte', 1000)), name='suppliers_pricingrule_priority'), models.CheckConstraint(condition=models.Q(('valid_from__isnull', True), ('valid_to__isnull', True), ('valid_to__gt', models.F('valid_from')), _connector='OR'), name='suppliers_pricingrule_validity'), models.CheckConstraint(condition=models.Q(('action_type__in', ['percent', 'amount_off', 'fixed_price', 'markup']), ('action_value__gte', 0), models.Q(models.Q(('action_type', 'percent'), _negated=True), ('action_value__lte', 100), _connector='OR')), name='suppliers_pricingrule_action'), models.CheckConstraint(condition=models.Q(('floor_price__isnull', True), ('floor_price__gte', 0), _connector='OR'), name='suppliers_pricingrule_floor')],
            },
        ),
    ]
