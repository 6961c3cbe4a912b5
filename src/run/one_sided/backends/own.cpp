#include "one_sided/backends/own.hpp"

#include "one_sided/backends.hpp"
#include "one_sided/measurement.hpp"

namespace kumihimo::one_sided {

using transport::PutRequest, transport::Transport;

template <class Done>
void OwnRemoteMemory::progress_until(Done&& done) {
  while (status_ && !done()) {
    switch (transport_.progress()) {
    case Transport::Progress::failed: status_ = transport_.error(); break;
    case Transport::Progress::nothing: transport_.idle(); break;
    case Transport::Progress::moved: break;
    }
  }
}

Status OwnRemoteMemory::allocate(std::int64_t bytes, const std::optional<OneSidedPair>&) {
  memory_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes));
  local_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes));
  const Result<transport::MemoryKey> registered = remote_.register_memory(memory_.get(), bytes);
  key_ = registered ? *registered : transport::MemoryKey{}; // the others wait for one, too, where it failed
  for (std::int32_t r = 0; r < ranks_; ++r)
    if (Rank{r} != rank_) remote_.grant(Rank{r}, data_channel, key_, 1);
  ++allocations_;
  for (std::int32_t r = 0; r < ranks_; ++r) {
    if (Rank{r} == rank_) continue;
    progress_until([&] { return remote_.credits(Rank{r}, data_channel).slots >= allocations_; });
    keys_[static_cast<std::size_t>(r)] = remote_.credits(Rank{r}, data_channel).key;
  }
  return registered ? status_ : Status(registered.error());
}

void OwnRemoteMemory::release() {
  meet();
  remote_.deregister_memory(key_);
}

// Flags follow the data of their channel, so that a rank that has all flags also has all data.
void OwnRemoteMemory::meet() {
  for (std::int32_t r = 0; r < ranks_; ++r) {
    if (Rank{r} == rank_) continue;
    std::int32_t open = 1;
    PutRequest flag{.target = Rank{r}, .channel = data_channel, .key = {}, .flag = true, .open = &open};
    remote_.put(flag);
    progress_until([&] { return open == 0; });
  }
  for (std::int32_t r = 0; r < ranks_; ++r) {
    if (Rank{r} == rank_) continue;
    const std::int64_t wanted = ++met_[static_cast<std::size_t>(r)];
    progress_until([&] { return remote_.flags(Rank{r}, data_channel) >= wanted; });
  }
}

void OwnRemoteMemory::put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
  start_put(peer, offset, bytes);
  wait_for_puts();
}

void OwnRemoteMemory::start_put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
  if (used_ == requests_.size()) requests_.push_back(std::make_unique<PutRequest>());
  PutRequest& request = *requests_[used_++];
  request = {.target = Rank{peer},
             .channel = data_channel,
             .key = keys_[static_cast<std::size_t>(peer)],
             .offset = offset,
             .data = local_.get() + offset,
             .bytes = bytes,
             .open = &open_};
  ++open_;
  remote_.put(request);
}

void OwnRemoteMemory::wait_for_puts() {
  progress_until([&] { return open_ == 0; });
  used_ = 0;
}

Status measure_own(const OneSidedContext& context, const OneSidedTask& task) {
  OneSidedPeers& peers = context.peers;
  OwnRemoteMemory library(*context.transport, Rank{peers.rank()}, peers.ranks());
  if (Status s = measure_library(library, peers, task, {{"backend", "own"}}); !s) return s;
  return library.status();
}

} // namespace kumihimo::one_sided
