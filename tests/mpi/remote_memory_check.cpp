// The conformance suite of remote memory where the ranks are processes, over the providers of libfabric that this
// machine has.
#include "checks.hpp"

#ifdef KUMIHIMO_LIBFABRIC
#include "fabric/remote_memory.hpp"
#include "run/transport/remote_memory_checks.hpp"

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#endif

namespace kumihimo::mpi {

#ifndef KUMIHIMO_LIBFABRIC
bool check_remote_memory(mpi_job::MpiJob&) { return true; }
#else

namespace {

constexpr std::chrono::seconds time_limit{30};
using Clock = std::chrono::steady_clock;

// Fails after the time limit: a rank whose peer has found an error would wait for ever.
class LimitedTransport final : public transport::Transport {
 public:
  explicit LimitedTransport(transport::Transport& below) : below_(below) {}
  Status prepare(const transport::Demands& demands) override { return below_.prepare(demands); }
  std::uint64_t begin(transport::Stream stream) override { return below_.begin(stream); }
  void send(transport::SendRequest& message) override { below_.send(message); }
  void receive(transport::ReceiveRequest& message) override { below_.receive(message); }
  Progress progress() override {
    const Progress moved = below_.progress();
    late_ = late_ || Clock::now() - since_ > time_limit;
    return late_ ? Progress::failed : moved;
  }
  void idle() override { below_.idle(); }
  bool has_failed() const override { return late_ || below_.has_failed(); }
  Error error() const override { return below_.has_failed() ? below_.error() : transport::failed_elsewhere(); }
  transport::RemoteMemory* remote_memory() override { return below_.remote_memory(); }

 private:
  transport::Transport& below_;
  bool late_ = false;
  Clock::time_point since_ = Clock::now();
};

class ProcessWorld final : public transport::testing::World {
 public:
  ProcessWorld(mpi_job::MpiJob& job, std::int32_t ranks, fabric::FabricRemoteMemory& memory)
      : job_(job), ranks_(ranks), memory_(memory) {}
  std::int32_t ranks() const override { return ranks_; }
  // The others help to receive until all are through.
  Status run(const std::function<Status(Rank, transport::Transport&)>& fn) override {
    Status mine = Nothing{};
    LimitedTransport limited(memory_);
    if (job_.rank() < ranks_) mine = fn(Rank{job_.rank()}, limited);
    const Library& library = job_.library();
    Handle request = library.constants.request_null;
    bool asked = false;
    for (int done = 0; !done; std::this_thread::yield()) {
      const bool drained = memory_.drained() || !mine;
      if (!asked && drained) asked = library.call.Ibarrier(library.constants.comm_world, &request) == 0;
      if (asked) library.call.Test(&request, &done, library.constants.status_ignore);
    }
    return job_.agree(mine);
  }

 private:
  mpi_job::MpiJob& job_;
  std::int32_t ranks_;
  fabric::FabricRemoteMemory& memory_;
};

// False: a check failed. A provider that is not here is none.
bool check_provider(mpi_job::MpiJob& job, const char* provider) {
  const Library& library = job.library();
  fabric::PortOptions options;
  options.provider = {provider, true, job.ranks()};
  auto opened = fabric::FabricPort::open(options);
  if (!job.all(opened.ok())) {
    if (job.prints()) std::printf("no provider %s: %s\n", provider, opened ? "" : opened.error().sentence().c_str());
    return true;
  }
  const std::shared_ptr<fabric::FabricPort> port = std::move(*opened);
  const std::vector<std::byte> card = port->card();
  fabric::FabricRanks ranks{0, job.rank(), {}, card.size()};
  ranks.cards.resize(card.size() * static_cast<std::size_t>(job.ranks()));
  const auto words = static_cast<int>(card.size() / sizeof(std::int64_t));
  const Handle type = library.datatype(DataType::int64);
  library.call.Allgather(card.data(), words, type, ranks.cards.data(), words, type, library.constants.comm_world);
  bool good = true;
  int done = 0;
  for (const transport::testing::RemoteMemoryCheck& check : transport::testing::remote_memory_checks()) {
    if (check.ranks > job.ranks()) continue;
    ++ranks.network;
    fabric::FabricRemoteMemory memory(port, ranks);
    job.barrier(); // all have it before the first message
    ProcessWorld world(job, check.ranks, memory);
    const Status status = check.run(world);
    if (!status && job.prints())
      std::fprintf(stderr, "%s over %s: %s\n", check.name.c_str(), provider, status.error().sentence().c_str());
    good = good && status.ok();
    ++done;
  }
  if (job.prints()) std::printf("%d checks of remote memory over %s\n", done, port->provider().c_str());
  return job.all(good);
}

} // namespace

bool check_remote_memory(mpi_job::MpiJob& job) {
  bool good = true;
  for (const char* provider : {"tcp;ofi_rxm", "shm"}) good = check_provider(job, provider) && good;
  return good;
}

#endif

} // namespace kumihimo::mpi
