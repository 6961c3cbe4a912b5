"""Campaigns: many predictions from one file, into one database that a killed run continues."""
