#include "goal/unmatched.hpp"

#include <fmt/format.h>

#include <utility>

namespace kumihimo::goal {
namespace {

std::int32_t rank_of(const Waiting& w) { return w.message ? w.envelope.sender : w.envelope.receiver; }

} // namespace

void Unmatched::add(const Waiting& each) {
  ++(each.message ? sends_ : receives_);
  if (!first_ || std::pair(rank_of(each), each.operation) < std::pair(rank_of(*first_), first_->operation))
    first_ = each;
}

Error Unmatched::error(const Graphs& graphs, std::uint64_t left) const {
  if (!first_) return failed("operations were left that wait for no message"); // a circle, which readers refuse
  const std::string others = fmt::format("in all {} sends were never received, {} receives never got a message, and "
                                         "{} operations were not completed",
                                         sends_, receives_, left);
  return failed(fmt::format("{} has no matching {}; {}", graphs.name_of(rank_of(*first_), first_->operation),
                            first_->message ? "receive" : "send", others),
                {}, "compare the peers, tags and numbers of sends and receives");
}

} // namespace kumihimo::goal
