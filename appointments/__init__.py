"""Appointments: booking, schedules and availability."""
