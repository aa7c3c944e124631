"""Reads of the app that take more than one filter; each starts with the actor's tenant."""
