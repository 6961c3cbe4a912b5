#!/usr/bin/python3
from kumihimo.cli import main

main()
