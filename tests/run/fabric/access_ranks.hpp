// Ranks as threads, each with remote memory of its own over a provider of libfabric that this machine has.
#pragma once

#include "fabric/remote_access.hpp"
#include "port_threads.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace kumihimo::fabric::testing {

inline constexpr double limit = 20; // seconds

struct AccessRow {
  std::string name, provider;
  AccessOptions options;
};

inline std::vector<AccessRow> access_rows() {
  std::vector<AccessRow> rows = {{"rxm", "tcp;ofi_rxm", {}}, {"shm", "shm", {}}, {"net", "net", {}}};
  for (AccessRow& row : rows) row.options.port.engines = 1;
  AccessRow engines = rows[0], by_messages = rows[0], unordered = rows[0], neither = rows[0], atomics = rows[0],
            rails = rows[0];
  engines.name = "rxm_with_engines", engines.options.port.engines = 2;
  by_messages.name = "rxm_with_flags_by_messages", by_messages.options.port.flags_by_messages = true;
  unordered.name = "rxm_without_order", unordered.options.port.orders_nothing = true;
  neither.name = "rxm_by_delivery";
  neither.options.port.flags_by_messages = neither.options.port.orders_nothing = true;
  atomics.name = "rxm_with_atomics", atomics.options.port.provider.atomics = true;
  rails.name = "rxm_on_two_rails", rails.options.port.rails = {"lo", "lo"};
  for (AccessRow* row : {&engines, &by_messages, &unordered, &neither, &atomics, &rails}) rows.push_back(*row);
  for (AccessRow& row : rows) row.options.port.provider.provider = row.provider;
  return rows;
}

// What the ranks of a test share: the exchange that a program gives.
class Meeting {
 public:
  explicit Meeting(std::int32_t ranks) : ranks_(ranks), barrier_(ranks) {}
  RemoteAccess::Exchange of(std::int32_t rank) {
    return [this, rank](const void* mine, void* all, std::size_t bytes) {
      if (rank == 0) gathered_.resize(bytes * static_cast<std::size_t>(ranks_));
      barrier_.arrive_and_wait();
      std::memcpy(gathered_.data() + bytes * static_cast<std::size_t>(rank), mine, bytes);
      barrier_.arrive_and_wait();
      std::memcpy(all, gathered_.data(), gathered_.size());
      barrier_.arrive_and_wait();
      return 0;
    };
  }

 private:
  std::int32_t ranks_;
  std::barrier<> barrier_;
  std::vector<std::byte> gathered_;
};

struct AccessRank {
  std::int32_t rank = 0, ranks = 0;
  RemoteAccess& access;
  RemoteAccess::Exchange exchange;

  std::vector<AccessKey> keys_of(std::byte* memory, std::int64_t bytes) const {
    AccessKey mine;
    EXPECT_EQ(access.register_memory(memory, bytes, mine).text, "");
    return all_of(mine);
  }
  std::vector<AccessKey> all_of(const AccessKey& mine) const {
    std::vector<AccessKey> all(static_cast<std::size_t>(ranks));
    exchange(&mine, all.data(), sizeof mine);
    return all;
  }
};

using Work = std::function<void(const AccessRank&)>;

// `work` of each rank between an opening and a closing that must succeed.
inline void on_access(std::int32_t ranks, const AccessOptions& options, const Work& work) {
  Meeting meeting(ranks);
  std::vector<std::jthread> threads;
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      auto opened = RemoteAccess::open(rank, ranks, meeting.of(rank), options);
      ASSERT_TRUE(opened.ok()) << opened.error().sentence();
      work({rank, ranks, **opened, meeting.of(rank)});
      EXPECT_EQ((*opened)->close(limit).text, "");
    });
}

} // namespace kumihimo::fabric::testing
