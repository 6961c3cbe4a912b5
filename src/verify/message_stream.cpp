#include "verify/message_stream.hpp"

#include "base/hash.hpp"
#include "program/cursor.hpp"
#include "verify/iteration_ranges.hpp"

#include <algorithm>
#include <map>

namespace kumihimo::verify {
namespace {

StreamSide side_of(const Step& step) { return step.sends() ? StreamSide::sends : StreamSide::receives; }

bool varies_peer(const Body& body, std::int32_t depth) {
  return std::any_of(body.begin(), body.end(), [&](const Node& node) {
    if (const Loop* loop = std::get_if<Loop>(&node)) return varies_peer(loop->body, depth);
    const auto& steps = std::get<Round>(node).steps;
    return std::any_of(steps.begin(), steps.end(), [&](const Step& s) {
      return (s.sends() || s.receives()) && s.peer.depends_on(Variable{depth});
    });
  });
}

// Streams of all channels met so far, in program order.
using Streams = std::map<StreamChannel, MessageStream>;

class Collector {
 public:
  Collector(const Binding& binding, std::optional<StreamChannel> only, std::int64_t most)
      : binding_(binding), only_(only), left_(most) {}

  bool collect(const Body& body, Streams& streams) {
    // The segment is a loop round the whole lane.
    Loop all;
    all.trip = binding_.segments().count;
    loop(all.trip, body, streams);
    return left_ >= 0;
  }

 private:
  void walk(const Body& body, Streams& streams) {
    path_.push_back(0);
    for (const Node& node : body) {
      if (left_ < 0) break;
      if (const Round* r = std::get_if<Round>(&node))
        round(*r, streams);
      else
        loop(std::get<Loop>(node).trip, std::get<Loop>(node).body, streams);
      ++path_.back();
    }
    path_.pop_back();
  }

  // values_[d] is the program's variable d, as an expression in the stream's variables; fixed_[d] its value where it
  // has one.
  void loop(std::int64_t trip, const Body& body, Streams& streams) {
    const auto depth = static_cast<std::int32_t>(values_.size());
    const std::int32_t first_round = round_;
    trips_.push_back(trip);
    if (trip > 0 && (trip == 1 || varies_peer(body, depth)))
      each_iteration(depth, trip, body, streams, first_round);
    else if (trip > 0)
      symbolic(trip, body, streams);
    trips_.pop_back();
    round_ = first_round + rounds_as_written(body);
  }

  void each_iteration(std::int32_t depth, std::int64_t trip, const Body& body, Streams& streams,
                      std::int32_t first_round) {
    std::vector<Range> wanted;
    if (only_)
      append_meetings(body, depth, depth, wanted), unite(wanted);
    else
      wanted = {{0, trip - 1}};
    fixed_.push_back(0);
    values_.emplace_back();
    for (const Range& r : wanted)
      for (std::int64_t i = r.low; i <= r.high; ++i) {
        if (trip > 1 && --left_ < 0) break;
        fixed_.back() = i;
        values_.back() = i;
        round_ = first_round;
        walk(body, streams);
      }
    fixed_.pop_back();
    values_.pop_back();
  }

  // Iterations in which a step of this side meets the peer.
  void append_meetings(const Body& body, std::int32_t depth, std::int32_t at, std::vector<Range>& out) {
    for (const Node& node : body) {
      if (const Loop* inner = std::get_if<Loop>(&node)) {
        if (inner->trip <= 0) continue;
        trips_.push_back(inner->trip);
        append_meetings(inner->body, depth, at + 1, out);
        trips_.pop_back();
        continue;
      }
      for (const Step& step : std::get<Round>(node).steps) {
        if (!(step.sends() || step.receives()) || side_of(step) != only_->side || step.is_signal() != only_->signal)
          continue;
        append_iteration_ranges(step.peer, depth, {only_->peer, only_->peer}, fixed_, trips_, out);
      }
    }
  }

  void symbolic(std::int64_t trip, const Body& body, Streams& streams) {
    Streams inside;
    values_.emplace_back(Variable{flow_depth_++});
    fixed_.push_back(0); // no peer inside depends on it
    walk(body, inside);
    fixed_.pop_back();
    values_.pop_back();
    --flow_depth_;
    for (auto& [channel, stream] : inside) {
      StreamItem item;
      item.trip = trip;
      item.body = std::move(stream);
      streams[channel].push_back(std::move(item));
    }
  }

  void round(const Round& r, Streams& streams) {
    const std::int32_t written = round_++;
    for (std::size_t j = 0; j < r.steps.size(); ++j) {
      const Step& step = r.steps[j];
      if (!step.sends() && !step.receives()) continue;
      const StreamChannel channel{static_cast<std::int32_t>(step.peer.evaluate(fixed_)), side_of(step),
                                  step.is_signal()};
      if (only_ && channel != *only_) continue;
      StreamItem item;
      StreamMessage& m = item.message;
      if (!step.is_signal()) m.length = replaced(symbolic_length_of(step.extent(), binding_), values_);
      m.segment = values_[0];
      m.position = position();
      m.round = written, m.step = static_cast<std::int32_t>(j), m.kind = step.kind;
      if (only_) m.loops.assign(values_.begin() + 1, values_.end());
      streams[channel].push_back(std::move(item));
    }
  }

  std::uint64_t position() const {
    std::uint64_t h = path_.size();
    for (const std::uint64_t node : path_) h = mixed(h, node);
    for (std::size_t d = 1; d < values_.size(); ++d) h = mixed(h, values_[d].hash());
    return h;
  }

  const Binding& binding_;
  std::optional<StreamChannel> only_;
  std::int64_t left_;
  std::vector<Expression> values_;
  std::vector<std::int64_t> fixed_, trips_;
  std::vector<std::uint64_t> path_; // the node of each enclosing body
  std::int32_t flow_depth_ = 0, round_ = 0;
};

std::uint64_t hash_of(const StreamItem& item) {
  if (!item.is_loop())
    return mixed(mixed(item.message.length.hash(), item.message.segment.hash()),
                 item.message.kind == StepKind::signal || item.message.kind == StepKind::wait_signal);
  return mixed(static_cast<std::uint64_t>(item.trip) + 0x100000001ULL, hash_of(item.body));
}

std::uint64_t positions_of(const MessageStream& stream) {
  std::uint64_t h = stream.size();
  for (const StreamItem& item : stream) h = mixed(h, item.is_loop() ? positions_of(item.body) : item.message.position);
  return h;
}

} // namespace

std::uint64_t hash_of(const MessageStream& stream) {
  std::uint64_t h = stream.size();
  for (const StreamItem& item : stream) h = mixed(h, hash_of(item));
  return h;
}

MessageStream stream_of(const Lane& lane, const Binding& binding, const StreamChannel& channel) {
  Streams streams;
  Collector(binding, channel, std::int64_t{1} << 40).collect(lane.body, streams);
  const auto it = streams.find(channel);
  return it == streams.end() ? MessageStream{} : std::move(it->second);
}

std::optional<std::vector<StreamSummary>> summaries(const Lane& lane, const Binding& binding, std::int64_t most) {
  Streams streams;
  if (!Collector(binding, std::nullopt, most).collect(lane.body, streams)) return std::nullopt;
  std::vector<StreamSummary> list;
  for (const auto& [channel, stream] : streams) list.push_back({channel, hash_of(stream), positions_of(stream)});
  return list;
}

} // namespace kumihimo::verify
