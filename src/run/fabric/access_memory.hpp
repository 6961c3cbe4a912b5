// Memory that a program names by keys (fabric/remote_access.hpp): this rank's, registered or allocated here, and that
// of the other ranks of its node, which is mapped. Its user holds the port's mutex in every call.
#pragma once

#include "fabric/access_outcome.hpp"
#include "fabric/node_memory.hpp"
#include "fabric/port.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace kumihimo::fabric {

// Registered memory of a rank, for all: 64 bytes that the program may copy as it likes.
struct AccessKey {
  std::uint32_t mark = 0, rank = 0;
  std::uint64_t address = 0; // as the provider counts
  std::int64_t bytes = 0;
  std::array<std::uint64_t, FabricPort::most_engines> of_engine{};
  std::uint64_t sum = 0; // of the rest: other bytes are told from a key
};
static_assert(sizeof(AccessKey) == 64);

struct AccessPlace { // in the memory of a key
  const AccessKey* key = nullptr;
  std::int64_t offset = 0;

  std::int32_t rank() const { return static_cast<std::int32_t>(key->rank); }
};

class AccessMemory {
 public:
  AccessMemory(FabricPort& port, std::unique_ptr<NodeMemory> node, std::int32_t rank, std::int32_t ranks)
      : port_(port), node_(std::move(node)), rank_(rank), ranks_(ranks) {}

  AccessOutcome register_memory(std::byte* data, std::int64_t bytes, AccessKey& key);
  AccessOutcome deregister_memory(const AccessKey& key);
  AccessOutcome allocate(std::int64_t bytes, std::byte*& data, AccessKey& key);
  AccessOutcome free(const AccessKey& key);
  void release_all(); // registrations

  // What is wrong with an access; nullopt: nothing.
  std::optional<AccessOutcome> fault_of(const AccessPlace& place, std::int64_t bytes) const;
  std::byte* here(const AccessPlace& place);      // in this rank's own memory; null: it is registered no more
  std::byte* mapped_at(const AccessPlace& place); // in another rank's of this node; null: the provider reaches it
  // Copies to or from such a place. A long copy gives the mutex back meanwhile, and the place stays mapped.
  void copy(std::unique_lock<std::mutex>& lock, const AccessPlace& place, std::byte* to, const std::byte* from,
            std::int64_t bytes);

  // Flags by stores.
  void count(std::int32_t rank, std::int32_t flag) { node_->count(rank, flag); }
  std::int64_t counted(std::int32_t flag) const { return node_->counted(flag); }
  const shared_memory::PeerProcess& process(std::int32_t rank) const { return node_->process(rank); }

 private:
  struct OwnRegion {
    std::byte* data = nullptr;
    RegisteredRange* range = nullptr;
    std::int32_t times = 0; // registered
  };
  AccessOutcome enroll(std::byte* data, std::int64_t bytes, std::uint32_t mark, AccessKey& key);

  FabricPort& port_;
  std::unique_ptr<NodeMemory> node_;
  std::int32_t rank_, ranks_;
  std::unordered_map<std::uint64_t, OwnRegion> own_; // by the sum of their key
};

} // namespace kumihimo::fabric
