"""Recurring treatments, which make drafts."""
