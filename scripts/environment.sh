# Sourced by every script here: where the repository is, and an environment that holds on a bare machine too
# (no HOME, no PATH, an unwritable home, developers' Python shims).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
venv=$root/.venv
export PATH="${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}"
export LC_ALL="${LC_ALL:-C.UTF-8}"
# Nothing of the caller's Python reaches the private one.
unset PYTHONPATH PYTHONHOME VIRTUAL_ENV
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
if [ ! -w "${HOME:-/nonexistent}" ]; then
  mkdir -p "$root/build/home"
  export HOME="$root/build/home"
fi
jobs=${JOBS:-$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}

say() { printf '%s\n' "kumihimo: $*" >&2; }

# Ctrl-C ends pip with an ordinary failure. Bash alone would go on, and a set-up would take it as a lack of network.
trap 'exit 130' INT

say_end() {
  local word="FAILED (exit $1)"
  case $1 in 0) word=done ;; 130) word=interrupted ;; esac
  say "$what: $word after ${SECONDS} s"
  exit "$1"
}

# When the command ends, say how it went and how long it took.
finish_with() {
  what=$1
  trap 'say_end $?' EXIT
  trap 'exit 130' INT TERM
}

# One at a time: a second make that came meanwhile waits here. FD NAME; the lock goes when the script and all that it
# started and gave FD to have ended.
lock() {
  mkdir -p "$root/build"
  command -v flock >/dev/null || return 0
  eval "exec $1>\"\$root/build/$2.lock\""
  flock -n "$1" || { say "waiting for another make in this folder"; flock "$1"; }
}
