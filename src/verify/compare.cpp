// The comparison of two streams: see matching.hpp.
#include "verify/enumerate.hpp"
#include "verify/matching.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::verify {
namespace {

constexpr std::int64_t values_tried = 20'000; // where lengths differ as symbols
constexpr std::int64_t most_splits = 100'000;

class EndComparison {
 public:
  explicit EndComparison(const EndBindings& ends) : ends_(ends) {}

  std::optional<Difference> run(const MessageStream& a, const MessageStream& b) {
    trips_.clear();
    return streams(a, b);
  }

 private:
  // Both streams consumed from the front; stacks hold them reversed.
  std::optional<Difference> streams(const MessageStream& a, const MessageStream& b) {
    MessageStream x(a.rbegin(), a.rend()), y(b.rbegin(), b.rend());
    while (!x.empty() && !y.empty()) {
      StreamItem& p = x.back();
      StreamItem& q = y.back();
      if (!p.is_loop() && !q.is_loop()) {
        if (auto d = messages(p.message, q.message)) return d;
        x.pop_back();
        y.pop_back();
        continue;
      }
      if (p.is_loop() && q.is_loop() && same_shape(p, q)) {
        const std::int64_t common = std::min(p.trip, q.trip);
        trips_.push_back(common);
        const auto d = streams(p.body, q.body);
        trips_.pop_back();
        if (d) return d; // both sides have the same number of messages in an iteration: no other pairing
        skip(x, common);
        skip(y, common);
        continue;
      }
      if (++splits_ > most_splits) return unsettled(p);
      if (p.is_loop()) split(x);
      if (q.is_loop()) split(y);
    }
    if (!x.empty()) return alone(x.back(), true);
    if (!y.empty()) return alone(y.back(), false);
    return std::nullopt;
  }

  // Whether both bodies have the same number of items and of messages.
  static bool same_shape(const StreamItem& p, const StreamItem& q) {
    return p.body.size() == q.body.size() && messages_in(p.body) == messages_in(q.body);
  }
  static std::int64_t messages_in(const MessageStream& stream) {
    std::int64_t n = 0;
    for (const StreamItem& i : stream) n += i.is_loop() ? i.trip * messages_in(i.body) : 1;
    return n;
  }

  std::int32_t depth() const { return static_cast<std::int32_t>(trips_.size()); }

  static void rewrite(StreamItem& item, std::span<const Expression> by) {
    for (StreamItem& i : item.body) rewrite(i, by);
    if (item.is_loop()) return;
    item.message.length = replaced(item.message.length, by);
    item.message.segment = replaced(item.message.segment, by);
    for (Expression& e : item.message.loops) e = replaced(e, by);
  }

  std::vector<Expression> identity() const {
    std::vector<Expression> by;
    for (std::int32_t d = 0; d < max_depth; ++d) by.emplace_back(Variable{d});
    return by;
  }

  // The loop on top without its first `n` iterations.
  void skip(MessageStream& stack, std::int64_t n) {
    StreamItem& loop = stack.back();
    if (loop.trip == n) {
      stack.pop_back();
      return;
    }
    auto by = identity();
    by[depth()] = Variable{depth()} + n;
    for (StreamItem& i : loop.body) rewrite(i, by);
    loop.trip -= n;
  }

  // The first iteration of the loop on top, written apart.
  void split(MessageStream& stack) {
    if (stack.back().trip == 0) {
      stack.pop_back();
      return;
    }
    MessageStream first = stack.back().body;
    auto by = identity();
    by[depth()] = 0;
    for (std::int32_t d = depth() + 1; d < max_depth; ++d) by[d] = Variable{d - 1};
    for (StreamItem& i : first) rewrite(i, by);
    skip(stack, 1);
    stack.insert(stack.end(), std::make_move_iterator(first.rbegin()), std::make_move_iterator(first.rend()));
  }

  std::optional<Difference> messages(const StreamMessage& a, const StreamMessage& b) {
    const bool signal = a.kind == StepKind::signal;
    if (a.segment == b.segment && (signal || a.length == b.length)) return std::nullopt;
    std::vector<std::int64_t> found;
    std::int64_t sent = 0, expected = 0;
    bool other_segment = false;
    const bool all = for_values(trips_, values_tried, [&](Values values) {
      other_segment = a.segment.evaluate(values) != b.segment.evaluate(values);
      if (!signal) sent = length(ends_.sender, a, values), expected = length(ends_.receiver, b, values);
      if (!other_segment && sent == expected) return true;
      found.assign(values.begin(), values.end());
      return false;
    });
    if (found.empty() && all) return std::nullopt;
    if (found.empty()) {
      found.assign(trips_.size(), 0);
      return Difference{false, place(b, found), "its length cannot be proven to be that of the message sent"};
    }
    if (other_segment) return alone_at(a, true, found);
    return Difference{false, place(b, found),
                      fmt::format("expects {} elements where the partner's round {}, step {} sends {}", expected,
                                  a.round, a.step, sent)};
  }

  static std::int64_t length(const Binding& binding, const StreamMessage& m, Values values) {
    // A length's extent is not always one of the binding's own buffers: see symbolic_length.hpp.
    std::vector<std::int64_t> at(values.begin(), values.end());
    at.resize(max_depth, 0);
    return elements_of(m.length, binding, m.segment.evaluate(at), at);
  }

  static StepLocation place(const StreamMessage& m, Values values) {
    StepLocation p;
    std::vector<std::int64_t> at(values.begin(), values.end());
    at.resize(max_depth, 0);
    p.segment = m.segment.evaluate(at);
    for (const Expression& e : m.loops) p.loops.push_back(e.evaluate(at));
    p.round = m.round, p.step = m.step, p.kind = m.kind;
    return p;
  }

  static Difference alone_at(const StreamMessage& m, bool sent, Values values) {
    return {sent, place(m, values), sent ? "is sent and never received" : "is received and never sent"};
  }

  std::optional<Difference> alone(const StreamItem& item, bool sent) const {
    const StreamItem* first = &item;
    while (first->is_loop()) {
      if (first->trip == 0 || first->body.empty()) return std::nullopt;
      first = &first->body.front();
    }
    return alone_at(first->message, sent, {});
  }

  std::optional<Difference> unsettled(const StreamItem& item) const {
    auto d = alone(item, true);
    if (d) d->what = "its loops cannot be matched with the partner's loops";
    return d;
  }

  const EndBindings& ends_;
  std::vector<std::int64_t> trips_; // of the loops compared at once
  std::int64_t splits_ = 0;
};

} // namespace

std::optional<Difference> compare(const MessageStream& sends, const MessageStream& receives, const EndBindings& ends) {
  return EndComparison(ends).run(sends, receives);
}

} // namespace kumihimo::verify
