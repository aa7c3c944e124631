"""Promotions, and what orders of buyers redeem of them.

Safe: new tables only.
"""

import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0011_managed_tenants'),
        ('suppliers', '0025_price_agreements'),
    ]

    operations = [
        migrations.CreateModel(
            name='PromotionBuyer',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant_id', 'promotion_id', 'buyer_tenant_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.UUIDField()),
                ('promotion_id', models.UUIDField()),
                ('buyer_tenant_id', models.UUIDField()),
                ('redemptions', models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='Promotion',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('code', models.CharField(max_length=64)),
                ('name', models.CharField(max_length=255)),
                ('status', models.CharField(choices=[('draft', 'Draft'), ('active', 'Active'), ('archived', 'Archived')], default='draft', max_length=8)),
                ('priority', models.PositiveIntegerField(default=0)),
                ('conditions', models.JSONField(default=dict)),
                ('audience_id', models.UUIDField(default='00000000-0000-0000-0000-000000000000')),
                ('action_type', models.CharField(choices=[('percent', 'So many percent off'), ('amount_off', 'An amount off'), ('fixed_price', 'Another price'), ('markup', 'So many percent on top')], max_length=11)),
                ('action_value', models.DecimalField(decimal_places=6, max_digits=19)),
                ('floor_price', models.DecimalField(decimal_places=6, max_digits=19, null=True)),
                ('on_market', models.GeneratedField(db_persist=True, expression=models.Q(('status', 'active')), output_field=models.BooleanField())),
                ('words', models.TextField(default='')),
                ('applies_to_offers', models.BooleanField(default=True)),
                ('applies_to_contracts', models.BooleanField(default=False)),
                ('combinable', models.BooleanField(default=False)),
                ('starts_at', models.DateTimeField()),
                ('ends_at', models.DateTimeField()),
                ('budget_amount', models.DecimalField(decimal_places=4, max_digits=19, null=True)),
                ('budget_currency', models.CharField(max_length=3, null=True)),
                ('spent', models.DecimalField(decimal_places=4, default=0, max_digits=19)),
                ('max_redemptions', models.PositiveIntegerField(null=True)),
                ('redemptions', models.PositiveIntegerField(default=0)),
                ('max_per_buyer', models.PositiveIntegerField(null=True)),
                ('exhausted', models.GeneratedField(db_persist=True, expression=models.Q(models.Q(('max_redemptions__isnull', False), ('redemptions__gte', models.F('max_redemptions'))), models.Q(('budget_amount__isnull', False), ('spent__gte', models.F('budget_amount'))), _connector='OR'), output_field=models.BooleanField())),
                ('told', models.CharField(choices=[('waiting', 'Not begun'), ('running', 'Running'), ('over', 'Not running')], default='over', max_length=7)),
                ('due_at', models.GeneratedField(db_persist=True, expression=models.Case(models.When(status='active', then=models.F('starts_at'), told='waiting'), models.When(then=models.F('ends_at'), told='running')), output_field=models.DateTimeField(null=True))),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'indexes': [models.Index(fields=['tenant', 'created_at', 'id'], name='suppliers_promotion_created'), models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_promotion_updated'), models.Index(condition=models.Q(('due_at__isnull', False)), fields=['due_at', 'tenant'], name='suppliers_promotion_due')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'code'), name='suppliers_promotion_code_taken'), models.CheckConstraint(condition=models.Q(('status__in', ['draft', 'active', 'archived'])), name='suppliers_promotion_status_known'), models.CheckConstraint(condition=models.Q(('priority__lte', 1000)), name='suppliers_promotion_priority'), models.CheckConstraint(condition=models.Q(('action_type__in', ['percent', 'amount_off', 'fixed_price', 'markup']), ('action_value__gte', 0), models.Q(models.Q(('action_type', 'percent'), _negated=True), ('action_value__lte', 100), _connector='OR')), name='suppliers_promotion_action'), models.CheckConstraint(condition=models.Q(('floor_price__isnull', True), ('floor_price__gte', 0), _connector='OR'), name='suppliers_promotion_floor'), models.CheckConstraint(condition=models.Q(('ends_at__gt', models.F('starts_at'))), name='suppliers_promotion_window'), models.CheckConstraint(condition=models.Q(models.Q(('budget_amount__isnull', True), models.Q(('budget_amount__gt', 0), ('budget_currency__isnull', False)), _connector='OR'), models.Q(('spent', 0), models.Q(('budget_currency__isnull', False), ('spent__gt', 0)), _connector='OR')), name='suppliers_promotion_budget'), models.CheckConstraint(condition=models.Q(models.Q(('budget_amount__isnull', True), ('spent__lte', models.F('budget_amount')), _connector='OR'), models.Q(('max_redemptions__isnull', True), ('redemptions__lte', models.F('max_redemptions')), _connector='OR')), name='suppliers_promotion_within_limits'), models.CheckConstraint(condition=models.Q(('told__in', ['waiting', 'running', 'over'])), name='suppliers_promotion_told_known')],
            },
        ),
        migrations.CreateModel(
            name='PromotionRedemption',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('document_id', models.UUIDField()),
                ('buyer_tenant_id', models.UUIDField()),
                ('amount', models.DecimalField(decimal_places=4, max_digits=19)),
                ('currency', models.CharField(max_length=3)),
                ('given_back_at', models.DateTimeField(null=True)),
                ('promotion', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.promotion')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'indexes': [models.Index(fields=['tenant', 'promotion', 'created_at', 'id'], name='suppliers_redemption_promotion'), models.Index(fields=['tenant', 'created_at', 'id'], name='suppliers_redemption_created')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'document_id', 'promotion'), name='suppliers_promotionredemption_once'), models.CheckConstraint(condition=models.Q(('amount__gte', 0)), name='suppliers_promotionredemption_amount')],
            },
        ),
    ]
