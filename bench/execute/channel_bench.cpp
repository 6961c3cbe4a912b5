// A message through memory that two processors share, there and back, as ranks of a node exchange it (they are threads
// here, and the rings ordinary memory): by stores past the caches and by ordinary ones. What is sent is written anew
// each time, what has come is read.
#include "shared_memory/channel_receiver.hpp"
#include "shared_memory/channel_sender.hpp"

#include <benchmark/benchmark.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace kumihimo::shared_memory {
namespace {

// The calling thread's, of those that the process may use; threads that share one leave it to each other.
void stay_on_processor(int index) {
  static const cpu_set_t allowed = [] { // before any thread is bound, of which others inherit it
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    return set;
  }();
  if (CPU_COUNT(&allowed) == 0) return; // more processors than the set has room for: wherever the system puts them
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int processor = 0, left = index % CPU_COUNT(&allowed); processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &allowed) && left-- == 0) {
      CPU_SET(processor, &one);
      break;
    }
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

struct End {
  ChannelSender out;
  ChannelReceiver in;
  std::vector<std::byte> sent, received;
  std::uint64_t calls = 0;
  std::int64_t sum = 0;

  void message(transport::TransferRequest& m, std::int32_t& open) const {
    m.key.segment = static_cast<std::int64_t>(calls);
    m.bytes = static_cast<std::int64_t>(sent.size());
    m.open = &open;
  }
  void send() {
    std::memset(sent.data(), static_cast<int>(calls), sent.size());
    std::int32_t open = 1;
    transport::SendRequest s;
    message(s, open);
    s.only = {sent.data(), s.bytes};
    s.first_piece = &s.only, s.piece_count = 1;
    out.start(s);
    while (open > 0)
      if (!out.progress()) std::this_thread::yield();
  }
  void receive() {
    std::int32_t open = 1;
    transport::ReceiveRequest r;
    message(r, open);
    r.copy_into({received.data(), nullptr, 0}, 1);
    in.start(r);
    while (open > 0)
      if (!in.progress()) std::this_thread::yield();
    for (std::size_t at = 0; at < received.size(); at += cache_line_bytes) sum += std::to_integer<int>(received[at]);
  }
};

void exchange(benchmark::State& state, const kernels::CopyVariant& stores) {
  const kernels::CopyPlan copy = kernels::copy_plan_of(stores);
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const RingShape shape;
  std::vector<std::byte> memory(2 * static_cast<std::size_t>(shape.channel_bytes()) + cache_line_bytes);
  void* start = memory.data();
  std::size_t room = memory.size();
  std::align(cache_line_bytes, 1, start, room);
  const ChannelMemory there = channel_at(static_cast<std::byte*>(start), shape);
  const ChannelMemory back = channel_at(static_cast<std::byte*>(start) + shape.channel_bytes(), shape);
  clear(there), clear(back);
  stay_on_processor(0);
  std::atomic<bool> ends = false;
  std::thread other([&] {
    stay_on_processor(1);
    End end{ChannelSender(back, ChannelSender::never_offered, copy), ChannelReceiver(there),
            std::vector<std::byte>(bytes), std::vector<std::byte>(bytes)};
    while (true) {
      end.receive();
      const bool last = ends; // said before the message that woke us
      end.send();
      ++end.calls;
      if (last) break;
    }
    benchmark::DoNotOptimize(end.sum);
  });
  End end{ChannelSender(there, ChannelSender::never_offered, copy), ChannelReceiver(back),
          std::vector<std::byte>(bytes), std::vector<std::byte>(bytes)};
  const auto there_and_back = [&] {
    end.send();
    end.receive();
    ++end.calls;
  };
  for (auto _ : state) there_and_back();
  ends = true;
  there_and_back();
  other.join();
  benchmark::DoNotOptimize(end.sum);
  state.SetBytesProcessed(2 * state.iterations() * state.range(0));
}

const auto registered = [] {
  for (const kernels::CopyVariant& stores : kernels::copy_variants())
    benchmark::RegisterBenchmark(("exchange/" + std::string(stores.name)).c_str(), exchange, stores)
        ->RangeMultiplier(4)
        ->Range(1 << 10, 16 << 20)
        ->UseRealTime();
  return 0;
}();

} // namespace
} // namespace kumihimo::shared_memory
