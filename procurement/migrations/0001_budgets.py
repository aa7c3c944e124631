"""Makes budgets and what documents commit and spend of them.

Safe: the tables are new.
"""

import core.clock
import core.ids
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):
    """Two tables."""

    initial = True

    dependencies = [
        ('organizations', '0011_managed_tenants'),
    ]

    operations = [
        migrations.CreateModel(
            name='Budget',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('code', models.CharField(max_length=64)),
                ('name', models.CharField(max_length=255)),
                ('amount', models.DecimalField(decimal_places=4, max_digits=19)),
                ('currency', models.CharField(max_length=3)),
                ('valid_from', models.DateField()),
                ('valid_to', models.DateField()),
                ('cost_centers', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), default=list, size=None)),
                ('threshold_percent', models.PositiveSmallIntegerField(default=80)),
                ('enforcement', models.CharField(choices=[('hard', 'It is refused'), ('warn', 'It goes on, and the buyer is told')], default='hard', max_length=4)),
                ('active', models.BooleanField(default=True)),
                ('committed', models.DecimalField(db_default=Decimal('0'), decimal_places=4, default=Decimal('0'), max_digits=24)),
                ('spent', models.DecimalField(db_default=Decimal('0'), decimal_places=4, default=Decimal('0'), max_digits=24)),
                ('words', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='BudgetEntry',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('document_id', models.UUIDField()),
                ('cost_center', models.CharField(blank=True, default='', max_length=64)),
                ('committed', models.DecimalField(db_default=Decimal('0'), decimal_places=4, default=Decimal('0'), max_digits=24)),
                ('spent', models.DecimalField(db_default=Decimal('0'), decimal_places=4, default=Decimal('0'), max_digits=24)),
                ('budget', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='procurement.budget')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'verbose_name_plural': 'budget entries',
            },
        ),
        migrations.AddIndex(
            model_name='budget',
            index=models.Index(fields=['tenant', 'created_at', 'id'], name='procurement_budget_by_created'),
        ),
        migrations.AddIndex(
            model_name='budget',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='procurement_budget_by_updated'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.UniqueConstraint(fields=('tenant', 'code'), name='procurement_budget_code_taken'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.CheckConstraint(condition=models.Q(('amount__gte', 0), ('committed__gte', 0), ('spent__gte', 0)), name='procurement_budget_amounts'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.CheckConstraint(condition=models.Q(('enforcement', 'warn'), ('amount__gte', django.db.models.expressions.CombinedExpression(models.F('committed'), '+', models.F('spent'))), _connector='OR'), name='procurement_budget_not_exceeded'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.CheckConstraint(condition=models.Q(('enforcement__in', ['hard', 'warn'])), name='procurement_budget_enforcement_known'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.CheckConstraint(condition=models.Q(('threshold_percent__range', (1, 100))), name='procurement_budget_threshold'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.CheckConstraint(condition=models.Q(('valid_to__gt', models.F('valid_from'))), name='procurement_budget_validity'),
        ),
        migrations.AddIndex(
            model_name='budgetentry',
            index=models.Index(fields=['tenant', 'document_id'], name='procurement_entry_by_document'),
        ),
        migrations.AddIndex(
            model_name='budgetentry',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='procurement_entry_by_updated'),
        ),
        migrations.AddConstraint(
            model_name='budgetentry',
            constraint=models.UniqueConstraint(fields=('tenant', 'budget', 'document_id'), name='procurement_budgetentry_once'),
        ),
        migrations.AddConstraint(
            model_name='budgetentry',
            constraint=models.CheckConstraint(condition=models.Q(('committed__gte', 0), ('spent__gte', 0)), name='procurement_budgetentry_amounts'),
        ),
    ]
