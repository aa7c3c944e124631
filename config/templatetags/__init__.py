"""Template tags of the pages that all apps share."""
