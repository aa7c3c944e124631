"""The supplier as a company: what it has settled for all its trade."""
