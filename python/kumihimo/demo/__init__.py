"""The demo: its experiment, real and simulated, and the report page that shows it."""
