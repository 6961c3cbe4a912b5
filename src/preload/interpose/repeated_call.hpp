// The last blocking call of a collective on a thread that ran by a plan. A call with the same arguments, other than
// buffers, uses its plan at once: programs make the same call again and again.
#pragma once

#include "interpose/buffer_semantics.hpp"
#include "interpose/interposer.hpp"

namespace kumihimo::interpose {

class RepeatedCall {
 public:
  // The plan of a call.
  struct Found {
    Communicator* communicator = nullptr;
    plan::Plan* plan = nullptr;
    mpi_hooks::Counter* counter = nullptr; // in the counters
  };
  static RepeatedCall& of(CollectiveKind kind); // this thread's

  // Remembers a call that needs no packing and whose plan stays the same until FastPath::forget(). `era`: its value
  // before the call was looked at.
  void remember(const Interposer& interposer, CollectiveKind kind, const BufferArguments& call, const Found& found,
                std::uint64_t era);
  // Runs the call if it is the same, and returns its error code; nothing: it may be another one.
  std::optional<int> run(Interposer& interposer, const BufferArguments& call) const;

 private:
  struct ComparedArguments {
    mpi::Handle communicator = 0;
    std::int64_t send_count = 0, receive_count = 0;
    mpi::Handle send_type = 0, receive_type = 0, operation = 0;
    int root = 0;
    bool operator==(const ComparedArguments&) const = default;
  };
  static ComparedArguments arguments_of(const BufferArguments& call);
  RankBuffers view_in(const Interposer& interposer, const BufferArguments& call) const;

  std::uint64_t era_ = 0;
  ComparedArguments said_;
  Found found_;
  CollectiveKind kind_{};
  bool in_place_ = false;
};

} // namespace kumihimo::interpose
