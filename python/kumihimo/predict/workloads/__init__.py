"""Communication of published programs, generated for any number of ranks: a program to replay, or traffic to place."""
