// The job watched and background jobs on one network (background.hpp).
#pragma once

#include "goal/whole_operations.hpp"
#include "hosts/hosts.hpp"
#include "packet/graph_outcome.hpp"
#include "packet/shared_network.hpp"

#include <memory>

namespace kumihimo::packet {

// Graphs among other clients of a network. The job watched runs once, a recorded one again and again.
class GraphClient : public Client {
 public:
  virtual void begin(Time start) = 0;
  const std::optional<Time>& first_end() const { return first_end_; } // of the first run
  GraphOutcome& outcome() { return outcome_; }                        // of the last run that has ended

 protected:
  std::optional<Time> first_end_;
  GraphOutcome outcome_;
};

template <class Port, class Matching>
class GraphClientWith final : public GraphClient {
 public:
  GraphClientWith(const goal::Graphs& graphs, std::span<const std::int32_t> nodes, const hosts::Software& software,
                  const hosts::LocalCopies& copies, Port port, const PacketOptions& options, bool again)
      : graphs_(graphs), nodes_(nodes), software_(software), copies_(copies), port_(port), options_(options),
        again_(again) {}

  void begin(Time start) override {
    operations_.emplace(graphs_);
    hosts_.emplace(*operations_, nodes_, software_, copies_, port_, Matching(graphs_.ranks()), options_);
    hosts_->begin(start);
  }
  Time due() const override { return hosts_ ? hosts_->due() : never; }
  void happen() override { hosts_->happen(); }
  void delivered(std::uint32_t message, Time now) override { hosts_->delivered(message, now); }
  void sent(std::uint32_t message, Time now) override { hosts_->sent(message, now); }
  Status ended() override {
    if (!again_ && first_end_) return Nothing{};
    const Time now = hosts_->now();
    Result<hosts::Outcome> found = hosts_->finish();
    if (!found) return again_ ? located("a recorded background job", found.error()) : found.error();
    static_cast<hosts::Outcome&>(outcome_) = *std::move(found);
    const Time end = std::max(now, outcome_.start + outcome_.last);
    if (!first_end_) first_end_ = end;
    if (!again_) return Nothing{};
    if (end == outcome_.start) return wrong_value("a recorded background job must take time", "0 s");
    ++port_.use().runs;
    begin(end);
    return Nothing{};
  }

 private:
  const goal::Graphs& graphs_;
  std::span<const std::int32_t> nodes_;
  const hosts::Software& software_;
  const hosts::LocalCopies& copies_;
  Port port_;
  const PacketOptions& options_;
  bool again_;
  std::optional<goal::WholeOperations> operations_; // of the run under way
  std::optional<hosts::Hosts<Port, goal::WholeOperations, Matching>> hosts_;
};

// A network with the job watched, client 0, and background jobs, clients 1, 2, ...
template <class Net>
class WatchedRun {
 public:
  WatchedRun(const goal::Graphs& graphs, std::span<const std::int32_t> nodes, const Background& background,
             const Fabric& fabric, const hosts::Software& software, const hosts::LocalCopies& copies, Net& network,
             const PacketOptions& options)
      : background_(background), fabric_(fabric), software_(software), copies_(copies), network_(network),
        shared_(network), watched_(client_of(graphs, nodes, 0, options, false)) {
    shared_.add(*watched_);
    for (std::uint32_t j = 0; j < background.jobs.size(); ++j) {
      const BackgroundJob& job = background.jobs[j];
      if (job.recorded) {
        recorded_.push_back({client_of(*job.recorded, job.nodes, j + 1, of_recorded_, true), j});
        shared_.add(*recorded_.back().client);
      } else {
        sources_.push_back(std::make_unique<Senders>(job, j, fabric, background.most_waiting, shared_.port(j + 1)));
        shared_.add(*sources_.back());
      }
    }
  }

  Result<GraphOutcome> run() {
    for (const Recorded& each : recorded_) each.client->begin(0);
    for (std::uint32_t client = 1; client <= background_.jobs.size(); ++client)
      if (Status s = shared_.look_at(client); !s) return s.error();
    std::optional<Time> start;
    for (bool counts = false; !watched_->first_end();) {
      if (!start && (start = start_time())) {
        watched_->begin(*start);
        if (Status s = shared_.look_at(0); !s) return s.error();
        continue;
      }
      if (start && !counts && shared_.next() >= *start) {
        shared_.reset_uses();
        counts = true;
      }
      if (Status s = shared_.step(); !s) return s.error();
    }
    GraphOutcome outcome = std::move(watched_->outcome());
    outcome.traffic = network_.traffic();
    outcome.background.assign(shared_.uses().begin() + 1, shared_.uses().end());
    return outcome;
  }

 private:
  using Port = typename SharedNetwork<Net>::Port;
  using Senders = SourceClient<Port>;
  struct Recorded {
    std::unique_ptr<GraphClient> client;
    std::uint32_t job = 0;
  };

  std::unique_ptr<GraphClient> client_of(const goal::Graphs& graphs, std::span<const std::int32_t> nodes,
                                         std::uint32_t client, const PacketOptions& options, bool again) {
    const Port port = shared_.port(client);
    if (graphs.has_wildcards())
      return std::make_unique<GraphClientWith<Port, goal::ListMatching>>(graphs, nodes, software_, copies_, port,
                                                                         options, again);
    return std::make_unique<GraphClientWith<Port, goal::NearMatching>>(graphs, nodes, software_, copies_, port, options,
                                                                       again);
  }

  // When the job watched starts, once that is known.
  std::optional<Time> start_time() const {
    if (background_.warm_up) return background_.warm_up;
    Time latest = warm_up_of(background_, fabric_);
    for (const Recorded& each : recorded_) {
      const std::optional<Time>& first = each.client->first_end();
      if (!first) return std::nullopt;
      latest = std::max(latest, *first + phase_of(background_.jobs[each.job], each.job, *first));
    }
    return latest;
  }

  const PacketOptions of_recorded_; // whose sends wait for no receives
  const Background& background_;
  const Fabric& fabric_;
  const hosts::Software& software_;
  const hosts::LocalCopies& copies_;
  Net& network_;
  SharedNetwork<Net> shared_;
  std::unique_ptr<GraphClient> watched_;
  std::vector<Recorded> recorded_;
  std::vector<std::unique_ptr<Senders>> sources_;
};

} // namespace kumihimo::packet
