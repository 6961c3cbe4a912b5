# Every target does all the set-up it needs (scripts/setup). Works from any directory: make -f path/to/Makefile test
self := $(strip $(MAKEFILE_LIST))
root := $(shell dirname -- "$(self)")
.DEFAULT_GOAL := help
.PHONY: help build test test-long test-asan test-tsan demo bench suites docs dist lint format clean test-slurm

help:
	@echo "make build      release build; afterwards .venv/bin/kumihimo works"
	@echo "make demo       measure, tune and predict an allreduce on this machine, and write a report"
	@echo "make test       all tests except the long ones (about 38 minutes on 2 cores from nothing)"
	@echo "make test SINCE=main  tests that the change since main can reach (minutes for one layer)"
	@echo "make test-long  the long tests and both sanitizers"
	@echo "make test-asan  the C++ tests under the address and undefined-behaviour sanitizers (test-tsan: threads)"
	@echo "make test-slurm the tests in a private Slurm of four nodes, which it installs (root)"
	@echo "make bench      benchmarks and the peers they compare with"
	@echo "make suites     external test suites, with and without the interposer (hours)"
	@echo "make docs       the documentation site in build/site"
	@echo "make dist       the source archive and the wheel of the last commit in build/dist"
	@echo "make lint       check the format and lint; changes no file"
	@echo "make format     format all files in place"
	@echo "make clean      remove what was built (.venv too)"
	@echo "JOBS=n limits the processes of a build; KUMIHIMO_PYTHON=path names the Python to use."

build test test-long test-slurm demo bench suites docs dist lint format clean:
	@"$(root)/scripts/$@"

test-asan test-tsan:
	@"$(root)/scripts/test-sanitized" "$(@:test-%=%)"
