// The last blocking call of a collective that a thread had taken over. One that says the same, its buffers aside, is
// neither looked at nor looked up again: programs make the same call again and again, and look far for it each time.
#pragma once

#include "interpose/buffer_semantics.hpp"
#include "interpose/session.hpp"

namespace kumihimo::interpose {

class Repeated {
 public:
  // What runs a call.
  struct Found {
    Communicator* communicator = nullptr;
    plan::Plan* plan = nullptr;
    mpi_hooks::Counter* counter = nullptr; // in the counters
  };
  static Repeated& of(CollectiveKind kind); // this thread's

  // After such a call that needs no memory of ours, and of which nothing may change until the era of
  // mpi_hooks::FastPath does; `era`: before it was looked at.
  void remember(const Session& session, CollectiveKind kind, const Call& call, const Found& found, std::uint64_t era);
  // The code of the same call; nothing where it may be another one.
  std::optional<int> run(Session& session, const Call& call) const;

 private:
  struct ComparedArguments {
    mpi::Handle communicator = 0;
    std::int64_t send_count = 0, receive_count = 0;
    mpi::Handle send_type = 0, receive_type = 0, operation = 0;
    int root = 0;
    bool operator==(const ComparedArguments&) const = default;
  };
  static ComparedArguments arguments_of(const Call& call);
  RankBuffers view_in(const Session& session, const Call& call) const;

  std::uint64_t era_ = 0;
  ComparedArguments said_;
  Found found_;
  CollectiveKind kind_{};
  bool in_place_ = false;
};

} // namespace kumihimo::interpose
