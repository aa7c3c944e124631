"""Indexes of the filters by what was dispensed, by expiry, and of the received ones by their prescriber.

Safe: no release has the tables yet.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Five indexes. Safe: see above."""

    dependencies = [
        ('organizations', '0008_tenant_keys'),
        ('prescriptions', '0060_instant_of_the_notice'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='prescription',
            index=models.Index(condition=models.Q(('dispense_status', 'none'), _negated=True), fields=['tenant', 'dispense_status', 'created_at', 'id'], name='prescriptions_rx_by_dispensed'),
        ),
        migrations.AddIndex(
            model_name='prescription',
            index=models.Index(condition=models.Q(('status__in', ['signed', 'routed'])), fields=['tenant', 'expires_at'], name='prescriptions_rx_by_expiry'),
        ),
        migrations.AddIndex(
            model_name='receivedprescription',
            index=models.Index(fields=['tenant', 'prescriber_id', 'routed_at', 'id'], name='prescriptions_rec_by_doctor'),
        ),
        migrations.AddIndex(
            model_name='receivedprescription',
            index=models.Index(condition=models.Q(('dispense_status', 'none'), _negated=True), fields=['tenant', 'dispense_status', 'routed_at', 'id'], name='prescriptions_rec_by_dispensed'),
        ),
        migrations.AddIndex(
            model_name='receivedprescription',
            index=models.Index(condition=models.Q(('status', 'routed')), fields=['tenant', 'expires_at'], name='prescriptions_rec_by_expiry'),
        ),
    ]
