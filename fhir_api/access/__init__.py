"""Who read what of which patient: one record for every read, kept for years, asked by auditors."""
