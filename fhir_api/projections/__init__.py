"""Organization and Location of the platform itself: resources made from `/v1/organizations` and `/v1/locations`."""
