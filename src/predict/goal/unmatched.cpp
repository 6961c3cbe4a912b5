#include "goal/unmatched.hpp"

#include <fmt/format.h>

#include <utility>

namespace kumihimo::goal {
namespace {

std::int32_t rank_of(const Waiting& w) { return w.message ? w.envelope.sender : w.envelope.receiver; }

// Of a rank with such an envelope, wildcards apart.
std::int64_t count(const Graphs& graphs, Kind kind, std::int32_t rank, std::int32_t peer, std::uint32_t tag) {
  std::int64_t n = 0;
  for (const GraphOperation& operation : graphs.of(rank).operations)
    n += operation.kind == kind && operation.tag == tag && graphs.peer(rank, operation.peer) == peer;
  return n;
}

// Whether each has its partner, which does not start.
bool wait_for_each_other(const Graphs& graphs, const Envelope& e) {
  if (e.sender == any_peer || e.tag == any_tag) return false;
  return count(graphs, Kind::send, e.sender, e.receiver, e.tag) ==
         count(graphs, Kind::receive, e.receiver, e.sender, e.tag);
}

} // namespace

void Unmatched::add(const Waiting& each) {
  ++(each.message ? sends_ : receives_);
  if (!first_ || std::pair(rank_of(each), each.operation) < std::pair(rank_of(*first_), first_->operation))
    first_ = each;
}

std::int32_t Unmatched::rank() const { return rank_of(*first_); }

Error Unmatched::error(const Graphs& graphs, std::uint64_t left) const {
  if (!first_) return failed("operations were left that wait for no message"); // a circle, which readers refuse
  return error(graphs.name_of(rank(), first_->operation), wait_for_each_other(graphs, first_->envelope), left);
}

Error Unmatched::error(const std::string& name, bool has_partner, std::uint64_t left) const {
  const std::string others = fmt::format("in all {} sends were never received, {} receives never got a message, and "
                                         "{} operations were not completed",
                                         sends_, receives_, left);
  const char* const other = first_->message ? "receive" : "send";
  if (has_partner)
    return wrong_value(
        fmt::format("{} waits for its {}, which never starts: ranks wait for each other; {}", name, other, others), {},
        "let some ranks receive before they send");
  return wrong_value(fmt::format("{} has no matching {}; {}", name, other, others), {},
                     "compare the peers, tags and numbers of sends and receives");
}

} // namespace kumihimo::goal
