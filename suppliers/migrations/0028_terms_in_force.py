"""What holds of lists, rules and promotions by audience, and a buyer's audiences by supplier, for the prices of many suppliers.

Safe: the migration is not atomic, so the indexes are made outside any transaction while writers go on; the one that goes is
contained in the new one.
"""

from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Writers go on while the indexes are made."""

    atomic = False

    dependencies: ClassVar = [("suppliers", "0027_life_of_agreements")]

    operations: ClassVar = [
        AddIndexConcurrently(
            model_name='pricelist',
            index=models.Index(condition=models.Q(('on_market', True)), fields=['tenant', 'audience_id'], name='suppliers_pricelist_in_force'),
        ),
        AddIndexConcurrently(
            model_name='pricingrule',
            index=models.Index(condition=models.Q(('on_market', True)), fields=['tenant', 'audience_id'], name='suppliers_pricingrule_in_force'),
        ),
        AddIndexConcurrently(
            model_name='promotion',
            index=models.Index(condition=models.Q(('on_market', True)), fields=['tenant', 'audience_id'], name='suppliers_promotion_in_force'),
        ),
        AddIndexConcurrently(
            model_name='audiencemember',
            index=models.Index(fields=['member_tenant_id', 'tenant_id', 'audience_id'], name='suppliers_audience_by_member'),
        ),
        RemoveIndexConcurrently(model_name='audiencemember', name='suppliers_audience_of_member'),
    ]
