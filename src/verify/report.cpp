#include "verify/report.hpp"

#include <fmt/format.h>

#include <array>

namespace kumihimo::verify {

std::string_view name_of(Check check) {
  static constexpr std::array<std::string_view, 6> names = {"structure", "matching", "deadlock",
                                                            "overlap",   "dataflow", "claim"};
  return names[static_cast<std::size_t>(check)];
}

namespace {

std::string step_text(const StepLocation& p) {
  std::string s = fmt::format(", step {} ({}", p.step, name_of(p.kind));
  if (p.peer >= 0) {
    const bool sends = p.kind == StepKind::send || p.kind == StepKind::signal;
    s += fmt::format(" {} {}", sends ? "to" : "from", p.peer);
  }
  return s + ")";
}

} // namespace

std::string StepLocation::text() const {
  std::string s = rank >= 0 ? fmt::format("rank {}", rank) : "all ranks";
  if (lane >= 0) s += fmt::format(", lane {}", lane);
  if (segment >= 0) s += fmt::format(", segment {}", segment);
  if (round >= 0) s += fmt::format(", round {}", round);
  for (std::size_t d = 0; d < loops.size(); ++d)
    s += fmt::format("{}{} = {}{}", d == 0 ? " (" : ", ", "ijklmnopq"[d % 9], loops[d],
                     d + 1 == loops.size() ? ")" : "");
  if (step >= 0) s += step_text(*this);
  return s;
}

std::string Report::text() const {
  if (!ok()) {
    std::string s;
    for (const Finding& f : findings) s += fmt::format("{}: {}\n", name_of(f.check), f.sentence());
    return s;
  }
  if (coverage.exact)
    return fmt::format("ok: {} pairs matched{}, all {} steps executed, height {}", coverage.pairs,
                       coverage.pairs_sampled ? " (a sample)" : "", coverage.steps, coverage.height);
  const std::string followed = coverage.samples == 0
                                   ? "too large to follow its data"
                                   : fmt::format("{} (segment, unit) pairs followed through {} of {} steps",
                                                 coverage.samples, coverage.executed, coverage.steps);
  return fmt::format("ok: {} pairs matched{}; {}: {}; {}, all elements of the first {} at {} ranks", coverage.pairs,
                     coverage.pairs_sampled ? " (a sample)" : "",
                     coverage.deadlock_shown ? "no deadlock" : "deadlock not excluded", coverage.deadlock, followed,
                     coverage.footprint_segments == 1 ? "segment"
                                                      : fmt::format("{} segments", coverage.footprint_segments),
                     coverage.footprints);
}

} // namespace kumihimo::verify
