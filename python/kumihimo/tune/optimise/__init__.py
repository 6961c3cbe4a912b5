"""A user's own program from its recording to choices that were proved in whole runs of it."""
