"""Drafts, signing, routing, cancelling and the lists of prescriptions."""
