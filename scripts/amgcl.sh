# Sourced by scripts/setup: AMGCL's headers, which the applications' variant amg is built with. They come from the source
# package on PyPI; a copy of the requirements, written last, says that they are whole.

# Without a network the build goes on without the variant. A copy of the requirements says that this was tried, so that
# the next run does not wait for the network; without it (make clean) a run asks again.
install_amgcl() {
  local file=$root/requirements/amgcl.txt prefix=$root/build/amgcl
  cmp -s "$file" "$prefix/requirements.txt" && return
  cmp -s "$file" "$prefix/tried.txt" && return
  say "unpacking the headers of requirements/amgcl.txt"
  rm -rf "$prefix"
  mkdir -p "$prefix"
  if "$venv/bin/python" -m pip download -q --require-hashes --retries 1 --timeout 10 --no-deps --no-binary :all: -d "$prefix" -r "$file" \
    >"$prefix/download.log" 2>&1 && tar -xzf "$prefix"/pyamgcl-*.tar.gz -C "$prefix" --strip-components 1 --wildcards '*/amgcl'; then
    rm -f "$prefix"/*.tar.gz
    cp "$file" "$prefix/requirements.txt"
  else
    cp "$file" "$prefix/tried.txt"
    say "going on without AMGCL (see build/amgcl/download.log): applications are built without the variant amg;"
    say "remove build/amgcl to try again"
  fi
}
