// Several clients on one network: the job watched, recorded jobs, sources. What happens next is the earliest event of a
// client, or of the network; at the same time clients are first, in their order.
#pragma once

#include "goal/longest_run.hpp"
#include "packet/background.hpp"
#include "packet/events.hpp"

namespace kumihimo::packet {

class Client {
 public:
  virtual ~Client() = default;
  virtual Time due() const = 0; // its next event; never: none before one of its messages is sent or delivered
  virtual void happen() = 0;    // that event
  virtual void delivered(std::uint32_t message, Time now) = 0;
  virtual void sent(std::uint32_t message, Time now) = 0; // after all that were delivered at this time
  // None of its messages is under way, and nothing is due.
  virtual Status ended() = 0;
};

template <class Net>
class SharedNetwork {
 public:
  explicit SharedNetwork(Net& network) : network_(network) {}

  // The network as a client sees it.
  class Port {
   public:
    Port(SharedNetwork& shared, std::uint32_t client) : shared_(&shared), client_(client) {}
    std::uint32_t submit(Time now, const RawMessage& message) { return shared_->submit(client_, now, message); }
    void stop(Time now, std::int32_t node) { shared_->network_.stop(now, node); }
    BackgroundUse& use() { return shared_->uses_[client_]; }

   private:
    SharedNetwork* shared_;
    std::uint32_t client_;
  };

  Port port(std::uint32_t client) { return Port(*this, client); }
  void add(Client& client) { // 0: the job watched, 1, 2, ...
    clients_.push_back(&client);
    known_.push_back(never), under_way_.push_back(0), uses_.emplace_back();
  }

  // A client may have another event now, or has ended.
  Status look_at(std::uint32_t client) {
    if (clients_[client]->due() == never && under_way_[client] == 0)
      if (Status s = clients_[client]->ended(); !s) return s.error();
    const Time due = clients_[client]->due();
    if (due != known_[client] && due != never) due_.push({due, client});
    known_[client] = due;
    return Nothing{};
  }

  // By client: since the last reset.
  const std::vector<BackgroundUse>& uses() const { return uses_; }
  void reset_uses() { std::fill(uses_.begin(), uses_.end(), BackgroundUse{}); }

  Time next() {
    while (!due_.empty() && known_[due_.top().client] != due_.top().time) due_.pop();
    return std::min(due_.empty() ? never : due_.top().time, network_.next());
  }

  // All that happens in one step, at next().
  Status step() {
    const Time now = next();
    if (now > goal::longest_run && now != never) return goal::run_too_long();
    if (!due_.empty() && due_.top().time == now) {
      const std::uint32_t client = due_.top().client;
      due_.pop();
      known_[client] = never;
      clients_[client]->happen();
      return look_at(client);
    }
    network_.advance();
    touched_.clear();
    for (const std::uint32_t id : network_.delivered()) {
      const auto [client, bytes] = owner_[id];
      --under_way_[client];
      uses_[client].delivered += bytes;
      clients_[client]->delivered(id, now);
      touched_.push_back(client);
    }
    for (const std::uint32_t id : network_.sent()) {
      clients_[owner_[id].client]->sent(id, now);
      touched_.push_back(owner_[id].client);
    }
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const std::uint32_t client : touched_)
      if (Status s = look_at(client); !s) return s.error();
    return Nothing{};
  }

 private:
  struct Due {
    Time time = 0;
    std::uint32_t client = 0;
    bool operator<(const Due& other) const { // the earliest on top
      return time != other.time ? time > other.time : client > other.client;
    }
  };

  struct Owner {
    std::uint32_t client = 0;
    std::uint64_t bytes = 0;
  };

  std::uint32_t submit(std::uint32_t client, Time now, RawMessage message) {
    message.background = client > 0;
    const std::uint32_t id = network_.submit(now, message);
    if (owner_.size() <= id) owner_.resize(id + 1);
    owner_[id] = {client, message.bytes};
    ++under_way_[client];
    uses_[client].offered += message.bytes;
    return id;
  }

  Net& network_;
  std::vector<Client*> clients_;
  std::vector<Time> known_;              // by client: its event in due_; others of due_ no longer hold
  std::vector<std::uint64_t> under_way_; // messages
  std::vector<BackgroundUse> uses_;
  std::priority_queue<Due> due_;
  std::vector<Owner> owner_; // by the network's name of the message
  std::vector<std::uint32_t> touched_;
};

// The sources of a job.
template <class Port>
class SourceClient final : public Client {
 public:
  SourceClient(const BackgroundJob& job, std::uint32_t number, const Fabric& fabric, std::uint32_t most_waiting,
               Port port)
      : sources_(job, number, fabric), port_(port), most_waiting_(most_waiting), waiting_(job.nodes.size()) {}

  Time due() const override { return sources_.next(); }
  void happen() override {
    const Sources::Offer offer = sources_.take();
    if (waiting_[offer.place] >= most_waiting_) {
      port_.use().offered += offer.message.bytes; // and lost
      return;
    }
    ++waiting_[offer.place];
    const std::uint32_t id = port_.submit(offer.message.start, offer.message);
    if (place_.size() <= id) place_.resize(id + 1);
    place_[id] = offer.place;
  }
  void delivered(std::uint32_t, Time) override {}
  void sent(std::uint32_t message, Time) override { --waiting_[place_[message]]; }
  Status ended() override { return Nothing{}; } // never: there is always a next message

 private:
  Sources sources_;
  Port port_;
  std::uint32_t most_waiting_;
  std::vector<std::uint32_t> waiting_; // by place: messages that have not left their node whole
  std::vector<std::uint32_t> place_;   // of the sender, by the network's name of the message
};

} // namespace kumihimo::packet
