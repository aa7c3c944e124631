"""Reads of the app that are more than one filter; each starts from the actor's tenant."""
