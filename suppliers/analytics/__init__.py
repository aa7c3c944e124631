"""Figures of a supplier: metrics over time, insights, and reports."""
