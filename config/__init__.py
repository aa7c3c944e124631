"""The project: settings, routes and processes of the service. No app imports it."""
