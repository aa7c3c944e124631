"""How pages write dates and numbers, by language."""
