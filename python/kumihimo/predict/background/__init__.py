"""Other jobs' traffic on the machine of the job watched (ADR 44): what a user asks for, the repeats, their page."""
