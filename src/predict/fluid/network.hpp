// Messages as fluids on a machine's network: those that share a link, an engine or a memory share its rate max-min
// fairly, as in the models flow and exact (fluid/resources.hpp). Rates are solved whenever a message starts or ends;
// changes of one time together. While many messages are under way, one may start later and end earlier, together with
// others, by a small share of its time: to solve each change alone would take time by the square of their number.
#pragma once

#include "fluid/max_min.hpp"
#include "fluid/options.hpp"
#include "fluid/resources.hpp"
#include "goal/deaths.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::fluid {

using goal::Time;
using simulation::Resource;

struct Message {
  std::int32_t from = 0, to = 0; // ranks
  std::uint64_t bytes = 0;
  Time start = 0;
  Time gap = 0;        // pacing: in thousandths of its time
  bool put = false;    // of a program with concurrent lanes
  bool summed = false; // where it arrives
};

// What a message depends on that all of a program set share.
struct OfPrograms {
  simulation::Lanes lanes = simulation::Lanes::single;
  std::vector<char> many_peers; // by rank
};

class Network {
 public:
  static constexpr bool between_ranks = true;

  // `paths` must outlive the network.
  explicit Network(const simulation::NetworkPaths& paths, const Tolerance& tolerance = {}, OfPrograms programs = {});

  // From `now` on, which is not before the last time; the answer names it until the advance after the one that
  // delivered it.
  std::uint32_t submit(Time now, const Message& message);
  // The node's messages that have not left whole are neither sent nor delivered, and those that are submitted later.
  void stop(Time now, std::int32_t node);

  // Of programs (hosts/hosts.hpp): `prepare` and `go` are the two halves of submit. There a gap is a pause behind the
  // message, and messages between ranks of a node have an interface's time.
  std::uint32_t prepare(const Message& message);
  void go(Time now, std::uint32_t id);
  Time sending(std::uint32_t id) const { return messages_[id].sending; }
  Time taking(std::uint32_t id) const { return messages_[id].taking; }
  Time pause(std::uint32_t id) const { return messages_[id].pause; }
  bool leaves_early(std::int32_t from, std::int32_t to, std::uint64_t bytes) const;
  // A sum or a copy of bytes, or a computation; `noise` makes it longer.
  std::uint32_t work(Time now, std::int32_t rank, const goal::GraphOperation& of, Time noise);
  Time work_time(std::int32_t rank, const goal::GraphOperation& of) const; // without others
  Time offload_time(std::int32_t ranks) const { return picoseconds(paths_.offload_seconds(ranks)); }

  Time next() const; // never: nothing will happen
  // Something but that rates change.
  Time next_message() const { return events_.empty() ? goal::never : events_.front().time; }
  void advance();

  // Of the last advance.
  const std::vector<std::uint32_t>& sent() const { return sent_; }
  const std::vector<std::uint32_t>& delivered() const { return delivered_; }

  const std::vector<double>& link_bytes() const { return link_bytes_; } // by LinkId: of messages that have left
  const std::vector<char>& waiting() const { return waiting_; }         // by LinkId: a message met another there
  double reduced(std::int32_t rank) const { return reduced_[static_cast<std::size_t>(rank)]; } // seconds of its thread
  std::uint64_t messages() const { return order_ - no_messages_; }

 private:
  enum class UnderWayKind : std::uint8_t { message, work, burst };
  enum class UnderWayStage : std::uint8_t { at_sender, on_links, at_receiver }; // of a message
  struct UnderWay {
    std::vector<Resource> resources;
    simulation::Fluid::FlowId flow = -1; // none: it has left, is lost or has no bytes
    Time start = 0, latency = 0, sending = 0, taking = 0, pause = 0;
    double bytes = 0, limit = 0;
    std::uint64_t order = 0;
    std::int32_t from = 0; // rank
    bool gone = false;     // it has left, or is lost
    UnderWayKind kind = UnderWayKind::message;
    UnderWayStage stage = UnderWayStage::on_links;
    bool needs_processors = false; // those that all nodes share, at both ends
    double burst = 0;              // bytes that have passed at once, and whose time its links are busy behind it
  };
  struct Event {
    Time time = 0;
    std::uint64_t order = 0;   // of equal times the lower one is first
    std::uint32_t version = 0; // of the flow
    std::uint32_t message = 0;
    bool arrives = false; // else it leaves
    bool operator<(const Event& other) const { return time != other.time ? time > other.time : order > other.order; }
  };
  static double seconds(Time time) { return static_cast<double>(time) * 1e-12; }
  static Time picoseconds(double seconds);
  std::uint32_t place();
  simulation::Path open(std::uint32_t id, const Message& message, simulation::Transfer transfer);
  void begin(std::uint32_t id);
  void begin_on_links(std::uint32_t id);
  void pay_burst(std::uint32_t id);
  bool is_idle(const UnderWay& of) const;
  void renumber(UnderWay& of);
  void start_at_end(std::uint32_t id, UnderWayStage stage);
  void leave_links(std::uint32_t id);
  void start(std::uint32_t id, std::span<const Resource> resources, double limit, double amount, double first_use = 1);
  void drop_outdated();
  void push(const Event& event);
  void pop();
  bool is_outdated(const Event& event) const;
  void leave(std::uint32_t id);
  void end_flow(UnderWay& of);
  bool leaves_with_others(const Event& event) const;
  bool is_crowded() const { return flows_ > tolerance_.above; }
  void solve();

  const simulation::NetworkPaths& paths_;
  simulation::Fluid fluid_;
  std::vector<UnderWay> messages_;
  std::vector<std::uint32_t> of_flow_; // the message of a flow
  std::vector<std::uint32_t> unused_;
  std::vector<char> stopped_; // by node
  std::vector<Event> events_; // a heap, the earliest first
  std::vector<std::uint32_t> sent_, delivered_;
  std::vector<std::uint32_t> worked_; // of the last advance
  std::vector<double> link_bytes_;
  std::vector<char> waiting_;
  std::vector<double> reduced_; // by rank
  const Tolerance tolerance_;
  const OfPrograms programs_;
  std::int64_t flows_ = 0; // under way
  double usual_ = 0;       // picoseconds: of messages that have left, the latest counting most
  Time now_ = 0;
  Time solve_at_; // since rates have changed; never: they have not
  std::uint64_t order_ = 0, no_messages_ = 0;
};

} // namespace kumihimo::fluid
