# Stands for the tests of an MPI library that this machine does not have.
message(FATAL_ERROR "${WHAT} not found: install it, and let CMake look for it in a fresh build directory")
