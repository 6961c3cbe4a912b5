#include "bench_driver/library_call.hpp"

#include "base/text_parsing.hpp"
#include "plan/collective_call.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::bench_driver {
namespace {

ResultLocation left(WhichRanks whose, Part part) {
  return whose == WhichRanks::root ? ResultLocation::vector_at_root
         : part == Part::block     ? ResultLocation::blocks
                                   : ResultLocation::nothing;
}

bool has_halves(CollectiveKind kind) { return kind->is_vector() && !kind->of_prefixes(); }

// Whether these can be called one after the other, in as many parts.
bool can_be_called(const LibraryCall& call) {
  if (call.steps.empty() || call.parts < 1) return false;
  const auto has_none = [](CollectiveKind kind) { return kind->of_neighbours() || !plan::has_call(kind, false); };
  if (std::any_of(call.steps.begin(), call.steps.end(), has_none)) return false;
  if (call.parts > 1 && !(call.steps.size() == 1 && has_halves(call.steps[0]))) return false;
  for (std::size_t i = 1; i < call.steps.size(); ++i)
    if (leaves(call.steps[i - 1]) == ResultLocation::nothing || leaves(call.steps[i - 1]) != takes(call.steps[i]))
      return false;
  return call.steps[0]->moves_data();
}

} // namespace

ResultLocation leaves(CollectiveKind kind) { return left(kind->output.whose, kind->output.part); }
ResultLocation takes(CollectiveKind kind) { return left(kind->input.whose, kind->input.part); }

bool LibraryCall::reduces() const {
  return std::any_of(steps.begin(), steps.end(), [](CollectiveKind kind) { return kind->reduces(); });
}

Result<LibraryCall> parse_library_call(std::string_view name) {
  LibraryCall call;
  std::string_view what = name;
  if (const std::size_t space = what.find(' '); space != std::string_view::npos) {
    if (!read_number(take_until(what, ' '), call.parts)) call.parts = 0;
  }
  while (call.parts > 0) {
    const std::size_t plus = std::min(what.find('+'), what.size());
    const Result<CollectiveKind> kind = parse_collective(what.substr(0, plus));
    if (!kind) call.parts = 0;
    if (kind) call.steps.push_back(*kind);
    if (plus == what.size()) break;
    what.remove_prefix(plus + 1);
  }
  if (!can_be_called(call))
    return wrong_value("unknown library call", fmt::format("'{}'", name),
                       "use a collective that moves data, two in sequence ('reduce+bcast'), or bcast, reduce or "
                       "allreduce in parts ('2 bcast')");
  return call;
}

} // namespace kumihimo::bench_driver
