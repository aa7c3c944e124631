"""Promotions: what takes off prices in a window of time, and how often and how much it may."""
