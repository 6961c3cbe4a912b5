# Sourced, after environment.sh, by scripts that run several parts and say at the end how each went.
. "$root/scripts/system-packages.sh"
results=() failures=0
# What is built and run, where SINCE names a revision (scripts/changed-tests); empty: everything.
build_targets=() ctest_names="" pytest_files=()

select_tests() {
  [ -n "${SINCE:-}" ] || return 0
  local chosen
  chosen=$("$venv/bin/python" "$root/scripts/changed-tests" "$SINCE") || exit 2
  [ "$chosen" != everything ] || return 0
  read -ra build_targets <<<"$(sed -n 's/^build //p' <<<"$chosen")"
  ctest_names=$(sed -n 's/^ctest //p' <<<"$chosen")
  read -ra pytest_files <<<"$(sed -n 's/^pytest //p' <<<"$chosen")"
  say "the change since $SINCE reaches ${#build_targets[@]} folders of C++ tests and ${#pytest_files[@]} of Python"
}

part() { # NAME COMMAND...; the last one's status is in $part_status
  local name=$1 start=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  part_status=0
  if "$@"; then
    results+=("$(printf 'passed  %-24s %5d s' "$name" $((SECONDS - start)))")
  else
    part_status=1
    results+=("$(printf 'FAILED  %-24s %5d s' "$name" $((SECONDS - start)))")
    failures=$((failures + 1))
  fi
}

# LIMIT COMMAND...: at the limit all that the command started is ended, as timeout gives it a process group of its own.
# Ctrl-C at a terminal does not reach that group; so it runs beside this script, which passes the signal on.
limited() {
  trap 'kill -TERM $limited 2>/dev/null; wait $limited || true; exit 130' INT TERM
  timeout -k 30 "$@" &
  limited=$!
  local status=0
  wait $limited || status=$?
  trap 'exit 130' INT TERM
  return $status
}

summary() {
  printf '\n'
  printf '%s\n' "${results[@]}"
  [ $failures = 0 ] || exit 1
}

# Configure a preset with its tests, unless it is (the build tree repeats it when a CMake file changes), then build. Where
# set-up may install both MPI libraries by itself, a missing one fails their tests; elsewhere they are skipped.
build_preset() {
  local all_mpi=OFF
  if can_install; then all_mpi=ON; fi
  { [ -f "build/$1/build.ninja" ] && grep -qs '^KUMIHIMO_TESTS:BOOL=ON' "build/$1/CMakeCache.txt"; } ||
    quietly "build/configure-$1.log" cmake --preset "$1" -D "KUMIHIMO_REQUIRE_MPI=$all_mpi" || return 1
  cmake --build --preset "$1" -j "$jobs" ${build_targets[@]+--target "${build_targets[@]}"} -- --quiet
}

test_preset() { ctest --preset "$1" -j "$jobs" ${ctest_names:+-R "$ctest_names"}; }

# What an earlier build left is not tested.
cpp_parts() { # BUILD_PRESET TEST_PRESET [NAME]
  [ ${#pytest_files[@]} = 0 ] || [ ${#build_targets[@]} != 0 ] || return 0 # no C++ is reached
  part "C++ test build${3:+ ($3)}" build_preset "$1"
  if [ $part_status = 0 ]; then
    part "C++ tests${3:+ ($3)}" test_preset "$2"
  else
    results+=("not run C++ tests${3:+ ($3)}: the build failed")
  fi
}

# A worker more than processors, as many tests wait; idle workers take tests from others. pytest ends with 5 when no test
# has the mark.
run_pytest() {
  "$venv/bin/python" -m pytest -q -n "$((jobs + 1))" --dist worksteal "$@" ${pytest_files[@]+"${pytest_files[@]}"} || [ $? = 5 ]
}
run_pytest_long() { "$venv/bin/python" -m pytest -q -m long || [ $? = 5 ]; }

quietly() { # LOG COMMAND...: the output only when it failed
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
}
