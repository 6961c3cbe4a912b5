# Sourced by scripts/setup and scripts/parts.sh: which system packages each goal needs, by their Debian names, and whether they are here.
# A package counts as present when what it brings is found (a command, a header, a version), however it came.
#
# `missing` are those without which the goal fails; `wanted` those without which a part is left out (an MPI
# library, the compiler cache, the browser of the page tests): they are installed where that is possible.

has() { command -v "$1" >/dev/null 2>&1; }

# cmake 3.24 or newer
has_cmake() {
  has cmake && cmake --version | awk 'NR == 1 { split($3, v, "."); exit !(v[1] > 3 || v[1] == 3 && v[2] >= 24) }'
}

# Python 3.9 or newer that can make virtual environments and has the headers for extensions
usable_python() {
  "$1" - >/dev/null 2>&1 <<'PY'
import ensurepip, os, sys, sysconfig, venv
assert sys.version_info >= (3, 9)
assert os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h"))
PY
}

# The system's Python first: shims of version managers come and go. KUMIHIMO_PYTHON names another.
find_python() {
  local candidate
  for candidate in ${KUMIHIMO_PYTHON:+"$KUMIHIMO_PYTHON"} /usr/bin/python3 python3 python3.13 python3.12 python3.11 python3.10 python3.9; do
    if usable_python "$candidate"; then command -v "$candidate" && return; fi
  done
  return 1
}

# Headers are looked for as the compiler will: one preprocessor run prints the packages whose header is absent.
absent_headers() {
  has g++ || { printf '%s\n' "$@" | sed 's/=.*//'; return; }
  local row
  for row in "$@"; do printf '#if !__has_include(<%s>)\nABSENT %s\n#endif\n' "${row#*=}" "${row%%=*}"; done |
    g++ -std=c++20 -E -P -x c++ - 2>/dev/null | sed -n 's/^ABSENT //p' | tr -d ' '
}

need() { missing+=" $1"; }
want() { wanted+=" $1"; }

packages_of_build() {
  has g++ || need g++
  has_cmake || need cmake
  has ninja || need ninja-build
  has ccache || want ccache
  if ! find_python >/dev/null; then need python3-venv; need python3-dev; fi
  local package
  for package in $(absent_headers libfmt-dev=fmt/core.h nlohmann-json3-dev=nlohmann/json.hpp libtomlplusplus-dev=toml++/toml.h \
    libhwloc-dev=hwloc.h libeigen3-dev=eigen3/Eigen/Dense); do need "$package"; done
  for package in $(absent_headers libboost-dev=boost/multi_array.hpp); do want "$package"; done # AMGCL's
  # A flow graph that the tasks of kumihimo app lu are compared with.
  for package in $(absent_headers libtbb-dev=oneapi/tbb/flow_graph.h); do want "$package"; done
  for package in $(absent_headers libfabric-dev=rdma/fi_rma.h); do want "$package"; done # of the network fabric
  # MPI libraries are opened at run time: a build needs none, and what runs on MPI needs one of them.
  has_mpi mpirun.openmpi libmpi.so.40 || want openmpi-bin
  has_mpi mpiexec.hydra libmpich.so.12 || want mpich
  # Opened at run time, too, by kumihimo bench node.
  has_library libopenblas.so.0 || want libopenblas0
  # Coarrays of kumihimo bench pgas are compiled when it runs.
  has caf.openmpi || want libcoarrays-openmpi-dev
  has caf.mpich || want libcoarrays-mpich-dev
  # And by kumihimo app fft3d.
  has_library libfftw3.so.3 || want libfftw3-double3
  # And by kumihimo place.
  has_library libscotch-7.0.so || want libscotch-7.0
  has_library libmetis.so.5 || want libmetis5
  # Imported by record --trace and replay.
  [ -d /usr/lib/python3/dist-packages/otf2 ] || want python3-otf2
  [ -f /usr/lib/python3/dist-packages/six.py ] || want python3-six # which Debian's python3-otf2 imports, and does not name
}

# By its file name, where the system's linker looks.
has_library() {
  local folder
  for folder in /usr/lib{,64} /usr/lib/*-linux-gnu /usr/local/lib{,64}; do
    [ ! -e "$folder/$1" ] || return 0
  done
  return 1
}

# LAUNCHER LIBRARY, by the names that tests/mpi/CMakeLists.txt looks for: what is here to set-up is here to the tests.
has_mpi() {
  local launcher library
  launcher=$(command -v "$1") || return 1
  for library in "${launcher%/*/*}"/lib{,64,/*-linux-gnu}{,/openmpi/lib}/"$2"; do
    [ ! -e "$library" ] || return 0
  done
  return 1
}

# Debian has the wrappers with the launchers, and what they need in another package.
compiles_mpi() { "$1" -E -include mpi.h -x c /dev/null >/dev/null 2>&1; }

packages_of_test() {
  local package
  for package in $(absent_headers libgtest-dev=gtest/gtest.h); do need "$package"; done
  # The wrappers by which users make MPI programs: the programs of the tests know nothing of this project.
  compiles_mpi mpicc.openmpi || want libopenmpi-dev
  compiles_mpi mpicc.mpich || want libmpich-dev
  has gfortran || want gfortran
  has chromium || has chromium-browser || has google-chrome || want chromium
}

packages_of_tsan() {
  compgen -G '/usr/lib/llvm-*/lib/libarcher.so' >/dev/null || has_library libarcher.so || need libomp-dev
}

packages_of_bench() {
  local package
  for package in $(absent_headers libbenchmark-dev=benchmark/benchmark.h); do need "$package"; done
  has ucx_perftest || want ucx-utils
  has smpirun || want libsimgrid-dev
  has ip || want iproute2
  has gmap || has scotch_gmap || want scotch
  for package in $(absent_headers libhypre-dev=hypre/HYPRE.h); do want "$package"; done
  has lmp || want lammps
  compiles_mpi mpicc.openmpi || want libopenmpi-dev
  # PETSc's headers stand in a folder that only pkg-config knows.
  has pkg-config || want pkg-config
  pkg-config --exists PETSc 2>/dev/null || want libpetsc-real-dev
}

packages_of_slurm() {
  local row
  for row in munge=munged slurmctld=slurmctld slurmd=slurmd slurm-client=srun; do
    PATH=$PATH:/usr/sbin:/sbin has "${row#*=}" || need "${row%%=*}"
  done
  # Debian 12 has it among Slurm's plugins, later releases in a package of its own.
  compgen -G '/usr/lib/*/slurm-wlm/mpi_pmix*.so' >/dev/null || want slurm-wlm-mpi-plugins
}

packages_of_lint() { :; }
packages_of_dist() { has dh || want debhelper; } # a test builds the Debian package
packages_of_fuzz() { has clang++ || need clang; packages_of_tsan; } # the same OpenMP runtime
packages_of_docs() { if ! find_python >/dev/null; then need python3-venv; need python3-dev; fi; }
packages_of_demo() { has lmp || want lammps; }
packages_of_suites() {
  has hpcc || want hpcc
  compgen -G '/usr/lib*/libblas.so' >/dev/null || compgen -G '/usr/lib/*/libblas.so' >/dev/null || want libblas-dev
}

# GOAL... -> missing, wanted
list_missing() {
  missing='' wanted=''
  local goal
  for goal in "$@"; do "packages_of_$goal"; done
}

# The packages with what they are, for people whose system names them otherwise.
names() {
  local package
  local -A what=([cmake]="cmake (3.24 or newer)" [g++]="g++ (C++20)" [python3-venv]="python3-venv (Python 3.9 or newer with venv and ensurepip)"
    [python3-dev]="python3-dev (Python.h of the same Python)"
    [libboost-dev]="libboost-dev (the variant amg of applications)"
    [libtbb-dev]="libtbb-dev (the variant tasks_tbb of lu)"
    [libtomlplusplus-dev]="libtomlplusplus-dev (toml++ 3)" [libbenchmark-dev]="libbenchmark-dev (Google Benchmark)" [libgtest-dev]="libgtest-dev (GoogleTest)"
    [chromium]="chromium (page tests)" [iproute2]="iproute2 (network namespaces of bench/run krylov)" [libsimgrid-dev]="libsimgrid-dev (SimGrid, the peer of the simulator benchmarks)"
    [libomp-dev]="libomp-dev (LLVM's OpenMP runtime with Archer)" [libopenmpi-dev]="libopenmpi-dev (mpicc of Open MPI)" [libmpich-dev]="libmpich-dev (mpicc of MPICH)" [gfortran]="gfortran (MPI programs in Fortran)"
    [libpetsc-real-dev]="libpetsc-real-dev (PETSc, a peer of the sparse and finite element benchmarks)"
    [libeigen3-dev]="libeigen3-dev (Eigen 3.4, linear algebra)"
    [libfabric-dev]="libfabric-dev (the network fabric of run)" [ucx-utils]="ucx-utils (ucx_perftest, a peer of the fabric benchmark)"
    [libhypre-dev]="libhypre-dev (a program of the placement benchmark)"
    [hpcc]="hpcc (a suite with residuals)" [libblas-dev]="libblas-dev (to build hpcc on MPICH)"
    [lammps]="lammps (the unmodified program of the demo and the placement benchmark)" [libopenblas0]="libopenblas0 (DGEMM of bench node)" [scotch]="scotch (gmap, a peer of the placement benchmark)" [libscotch-7.0]="libscotch-7.0 (cuts graphs for place)" [libmetis5]="libmetis5 (cuts graphs for place)" [python3-otf2]="python3-otf2 (traces in OTF2)" [python3-six]="python3-six (for python3-otf2)"
    [libcoarrays-openmpi-dev]="libcoarrays-openmpi-dev (caf, coarrays of bench pgas)" [libcoarrays-mpich-dev]="libcoarrays-mpich-dev (likewise over MPICH)"
    [slurm-wlm-mpi-plugins]="slurm-wlm-mpi-plugins (srun --mpi=pmix)"
    [mpich]="mpich (an MPI library)" [openmpi-bin]="openmpi-bin (an MPI library)")
  local joined=''
  for package in "$@"; do joined+="${joined:+, }${what[$package]:-$package}"; done
  printf '%s' "$joined"
}

# Whether this may install packages: on Debian and Ubuntu, as root or with passwordless sudo.
can_install() { has apt-get && { is_root || { has sudo && sudo -n true 2>/dev/null; }; }; }
is_root() { [ "$(id -u)" = 0 ]; }

# Where it may: install what is missing or wanted, then look again.
install_missing() {
  can_install || return 0
  local as_root=()
  is_root || as_root=(sudo -n)
  # What an earlier run could not get is not asked for again at each run, as that costs the network each time.
  local tried=$root/build/packages-tried
  if [ -z "$missing" ] && [ "$(cat "$tried" 2>/dev/null)" = "$wanted" ]; then return 0; fi
  say "installing system packages:$missing$wanted"
  local log=$root/build/apt.log
  # What a package starts (a service) may outlive this script, and must not keep its lock, fd 9.
  system() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$@" >>"$log" 2>&1 9>&-; }
  local apt=(system apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=1)
  : >"$log"
  system dpkg --configure -a || say "dpkg --configure -a failed (see build/apt.log)" # half-done by an interrupted install
  "${apt[@]}" update || say "apt-get update failed (see build/apt.log); trying with the lists that are here"
  if ! "${apt[@]}" install -y --no-install-recommends $missing $wanted; then
    local package
    # One that this release lacks, or that cannot be downloaded, must not keep the others out. What is needed comes first.
    [ -z "$missing" ] || "${apt[@]}" install -y --no-install-recommends $missing || true
    hash -r
    list_missing "$@"
    for package in $missing $wanted; do
      "${apt[@]}" install -y --no-install-recommends "$package" || true
    done
  fi
  hash -r
  list_missing "$@"
  printf '%s' "$wanted" >"$tried"
}

report_missing() {
  {
    printf 'kumihimo: missing on this system: %s.\n' "$(names $missing)"
    [ -z "$wanted" ] || printf '  Good to have as well: %s.\n' "$(names $wanted)"
    if has apt-get; then
      printf '  Run as root, or have an administrator run:\n    apt-get update && apt-get install --no-install-recommends%s%s\n' "$missing" "$wanted"
      [ ! -s "$root/build/apt.log" ] || printf '  The last attempt of this script is in build/apt.log.\n'
    else
      printf '  The names are those of Debian 12 and Ubuntu 24.04; install the equivalents of this system'
      printf ' (KUMIHIMO_PYTHON=/path/to/python3 names a Python that is not in PATH).\n'
    fi
    printf '  Then run the same command again.\n'
  } >&2
  exit 2
}
