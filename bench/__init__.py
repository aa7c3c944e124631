"""Measuring tools and what they need around the service."""
