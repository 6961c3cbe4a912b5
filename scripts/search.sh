# Sourced by scripts/setup: Optuna, by which `kumihimo tune kernel` searches large spaces of variants (ADR 36).

# Without a network the build goes on without it. A failure is remembered for a day: a copy of the requirements.
install_search() {
  local file=$root/requirements/search.txt stamp=$venv/.installed/search.txt log=$root/build/search.log
  local failure=$stamp.failed
  cmp -s "$file" "$stamp" && return
  cmp -s "$file" "$failure" && [ -n "$(find "$failure" -mmin -1440)" ] && return
  say "installing the Python packages of requirements/search.txt"
  mkdir -p "$root/build"
  if "$venv/bin/python" -m pip install -q --retries 1 --timeout 10 -r "$file" >"$log" 2>&1; then
    rm -f "$failure"
    cp "$file" "$stamp.new"
    mv "$stamp.new" "$stamp"
  else
    cp "$file" "$failure"
    say "going on without Optuna (see build/search.log): kumihimo tune kernel searches at random; for another try: rm $failure"
  fi
}
