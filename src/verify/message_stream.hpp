// A message stream is what one rank sends to (or receives from) another on one lane, in order: messages in nested
// loops, as symbols. The segment is the outermost loop. Loops whose peer varies contribute the iterations that meet
// this peer, which are solved for.
#pragma once

#include "verify/report.hpp"
#include "verify/symbolic_length.hpp"

#include <optional>
#include <vector>

namespace kumihimo::verify {

struct StreamMessage {
  SymbolicLength length;
  Expression segment;            // in the stream's variables
  std::uint64_t position = 0;    // hash of where it is in the program
  std::vector<Expression> loops; // the values of the program's loop variables, for messages to people
  std::int32_t round = 0, step = 0;
  StepKind kind = StepKind::send;
};

// trip >= 0: a loop; its body's variable is the stream's depth there. Otherwise a message.
struct StreamItem {
  std::int64_t trip = -1;
  std::vector<StreamItem> body;
  StreamMessage message;
  bool is_loop() const { return trip >= 0; }
};
using MessageStream = std::vector<StreamItem>;

enum class StreamSide : std::uint8_t { sends, receives };

// Which streams of a lane: data and signals are matched apart.
struct StreamChannel {
  std::int32_t peer = 0;
  StreamSide side = StreamSide::sends;
  bool signal = false;
  auto operator<=>(const StreamChannel&) const = default;
};

std::uint64_t hash_of(const MessageStream& stream);

// The stream of one channel. With loops that vary the peer, O(iterations that meet it).
MessageStream stream_of(const Lane& lane, const Binding& binding, const StreamChannel& channel);

// Every channel of the lane with the hash of its stream. Loops that vary the peer are listed up to `most` iterations in
// all; nothing if there are more.
struct StreamSummary {
  StreamChannel channel;
  std::uint64_t hash = 0;
  std::uint64_t positions = 0; // hash of where the messages are: nodes of the bodies, values of the loops' variables
};
std::optional<std::vector<StreamSummary>> summaries(const Lane& lane, const Binding& binding, std::int64_t most);

} // namespace kumihimo::verify
