"""The door of prescriptions: what other apps may use. Everything else in here is private."""

from .unguarded_histories import Unguarded, unguarded_tenants

__all__ = ["Unguarded", "unguarded_tenants"]
