"""The buttons of the buyer on the page of orders, which stands below this app; importing this puts them there."""

from typing import Any, cast

from django.contrib import admin

from suppliers.public import PurchaseOrder

from .clicks import OF_BUYER

cast("Any", admin.site.get_model_admin(PurchaseOrder)).buttons = OF_BUYER
