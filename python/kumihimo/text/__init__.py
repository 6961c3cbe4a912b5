"""Words, numbers and files from outside: how they are read, checked, written, and told when they are wrong."""
