"""Price agreements: what a buyer and a supplier have negotiated, with versions, drafts, and the supplier's copies."""
