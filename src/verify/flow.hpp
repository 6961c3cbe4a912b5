// A flow is what one rank sends to (or receives from) another on one lane, in order: messages in nested loops, as
// symbols. The segment is the outermost loop. Loops whose peer varies contribute the iterations that meet this peer,
// which are solved for.
#pragma once

#include "verify/report.hpp"
#include "verify/symbolic_length.hpp"

#include <optional>
#include <vector>

namespace kumihimo::verify {

struct Message {
  SymbolicLength length;
  Expression segment;            // in the flow's variables
  std::uint64_t position = 0;    // hash of where it is in the program
  std::vector<Expression> loops; // the values of the program's loop variables, for messages to people
  std::int32_t round = 0, step = 0;
  StepKind kind = StepKind::send;
};

// trip >= 0: a loop; its body's variable is the flow's depth there. Otherwise a message.
struct Item {
  std::int64_t trip = -1;
  std::vector<Item> body;
  Message message;
  bool is_loop() const { return trip >= 0; }
};
using Flow = std::vector<Item>;

enum class Side : std::uint8_t { sends, receives };

// Which flows of a lane: data and signals are matched apart.
struct Channel {
  std::int32_t peer = 0;
  Side side = Side::sends;
  bool signal = false;
  auto operator<=>(const Channel&) const = default;
};

std::uint64_t hash_of(const Flow& flow);

// The flow of one channel. With loops that vary the peer, O(iterations that meet it).
Flow flow_of(const Lane& lane, const Binding& binding, const Channel& channel);

// Every channel of the lane with the hash of its flow. Loops that vary the peer are listed up to `most` iterations in
// all; nothing if there are more.
struct Summary {
  Channel channel;
  std::uint64_t hash = 0;
  std::uint64_t positions = 0; // hash of where the messages are: nodes of the bodies, values of the loops' variables
};
std::optional<std::vector<Summary>> summaries(const Lane& lane, const Binding& binding, std::int64_t most);

} // namespace kumihimo::verify
