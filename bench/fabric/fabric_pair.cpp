// fabric_pair PROVIDER [ROUNDS]: latency, bandwidth and message rate between two processes of this machine, as JSON
// lines {"way", "bytes", "us", "GB_s", "rate"} of each round. The ways alternate within a round.
//
//  loop    the provider's calls as one would write them by hand: fi_writedata, fi_cq_read
//  puts    fabric::FabricRemoteMemory, with flags
//  program kumihimo/remote_memory.h, through the library that programs of users link with
//  allocated  the same, into memory that the library allocates
//  messages fabric::FabricMessages, as the engine of schedules uses them
//  mapped  stores into memory that both have mapped
//
// One way: half of a round trip, where the answer is given when the bytes are known to be there. Bandwidth: a window of
// 32 puts of which the last is answered. Both processes poll without pause, and yield the processor now and then.
#include "fabric/messages.hpp"
#include "fabric/remote_memory.hpp"

#include <kumihimo/remote_memory.h>
#include <rdma/fi_cm.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace kumihimo;

namespace {

constexpr std::int64_t most_bytes = 1 << 20;
constexpr int window = 32;
constexpr int turns_until_yield = 200;

struct Shared {
  std::atomic<int> arrived[2];
  std::byte cards[2][1024];
  std::uint64_t numbers[2][4];
  alignas(64) std::atomic<std::uint64_t> flags[2][8]; // of the mapped way
};

Shared* shared = nullptr;
std::byte* mapped[2] = {};
int self = 0;

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "fabric_pair: process %d: %s\n", self, what.c_str());
  std::_Exit(1);
}

void meet() {
  const int turn = ++shared->arrived[self];
  while (shared->arrived[1 - self] < turn) sched_yield();
}

struct Pause {
  int turns = 0;
  void operator()() {
    if (++turns % turns_until_yield == 0) sched_yield();
  }
};

class Way {
 public:
  virtual ~Way() = default;
  virtual void put(std::int64_t bytes, bool flag) = 0; // to the other process; may wait for room
  virtual void wait_for_flag() = 0;                    // the next one
  virtual void settle() = 0;                           // what was put may be changed
};

// --- by hand

class Loop final : public Way {
 public:
  explicit Loop(const std::string& provider) {
    auto opened = fabric::FabricDomain::open({provider, true, 2});
    if (!opened) die(opened.error().sentence());
    domain_ = std::move(*opened);
    fi_cq_attr wanted{};
    wanted.format = FI_CQ_FORMAT_DATA;
    wanted.size = 4096;
    check(fi_cq_open(domain_->domain(), &wanted, &queue_, nullptr), "fi_cq_open");
    check(fi_endpoint(domain_->domain(), &domain_->info(), &endpoint_, nullptr), "fi_endpoint");
    check(fi_ep_bind(endpoint_, &domain_->addresses()->fid, 0), "fi_ep_bind");
    check(fi_ep_bind(endpoint_, &queue_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    check(fi_enable(endpoint_), "fi_enable");
    memory_.resize(2 * most_bytes);
    const std::uint64_t access = FI_WRITE | FI_REMOTE_WRITE | FI_READ | FI_REMOTE_READ;
    check(fi_mr_reg(domain_->domain(), memory_.data(), memory_.size(), access, 0, 1, 0, &registered_, nullptr),
          "fi_mr_reg");
    std::size_t bytes = sizeof shared->cards[self];
    check(fi_getname(&endpoint_->fid, shared->cards[self], &bytes), "fi_getname");
    shared->numbers[self][0] = domain_->rules().uses_addresses ? reinterpret_cast<std::uint64_t>(memory_.data()) : 0;
    shared->numbers[self][1] = fi_mr_key(registered_);
    meet();
    if (fi_av_insert(domain_->addresses(), shared->cards[1 - self], 1, &peer_, 0, nullptr) != 1) die("fi_av_insert");
    address_ = shared->numbers[1 - self][0] + most_bytes;
    key_ = shared->numbers[1 - self][1];
    meet();
  }
  ~Loop() override { fi_close(&endpoint_->fid), fi_close(&registered_->fid), fi_close(&queue_->fid); }
  void put(std::int64_t bytes, bool flag) override {
    Pause pause;
    for (;;) {
      fi_context2& context = contexts_[started_ % contexts_.size()];
      const auto count = static_cast<std::size_t>(bytes);
      void* const source = fi_mr_desc(registered_);
      const ssize_t code =
          flag ? fi_writedata(endpoint_, memory_.data(), count, source, 1, peer_, address_, key_, &context)
               : fi_write(endpoint_, memory_.data(), count, source, peer_, address_, key_, &context);
      if (code == 0) break;
      if (code != -FI_EAGAIN) die(domain_->library().text(code));
      poll(), pause();
    }
    ++started_;
  }
  void wait_for_flag() override {
    Pause pause;
    for (++awaited_; flags_ < awaited_; pause()) poll();
  }
  void settle() override {
    Pause pause;
    for (; completed_ < started_; pause()) poll();
  }

 private:
  void check(int code, const char* what) const {
    if (code != 0) die(std::string(what) + ": " + domain_->library().text(code));
  }
  void poll() {
    fi_cq_data_entry entries[16];
    const ssize_t count = fi_cq_read(queue_, entries, 16);
    if (count < 0 && count != -FI_EAGAIN) die("fi_cq_read");
    for (ssize_t i = 0; i < count; ++i) (entries[i].flags & FI_REMOTE_CQ_DATA) != 0 ? ++flags_ : ++completed_;
  }

  std::unique_ptr<fabric::FabricDomain> domain_;
  fid_cq* queue_ = nullptr;
  fid_ep* endpoint_ = nullptr;
  fid_mr* registered_ = nullptr;
  fi_addr_t peer_ = 0;
  std::uint64_t address_ = 0, key_ = 0, started_ = 0, completed_ = 0, flags_ = 0, awaited_ = 0;
  std::vector<std::byte> memory_;
  std::vector<fi_context2> contexts_ = std::vector<fi_context2>(4096);
};

// --- ours

fabric::FabricRanks meet_ranks(const fabric::FabricPort& port, std::uint32_t network) {
  const std::vector<std::byte> card = port.card();
  std::memcpy(shared->cards[self], card.data(), card.size());
  meet();
  fabric::FabricRanks ranks{network, self, {}, card.size()};
  for (const auto& each : shared->cards) ranks.cards.insert(ranks.cards.end(), each, each + card.size());
  meet();
  return ranks;
}

class Puts final : public Way {
 public:
  explicit Puts(const std::shared_ptr<fabric::FabricPort>& port) : memory_(port, meet_ranks(*port, 1)) {
    bytes_.resize(2 * most_bytes);
    const auto key = memory_.register_memory(bytes_.data(), 2 * most_bytes);
    if (!key) die(key.error().sentence());
    memory_.grant(peer(), 0, *key, 0);
    while (!memory_.credits(peer(), 0).key.exists()) turn();
    key_ = memory_.credits(peer(), 0).key;
    meet_while([&] { turn(); });
  }
  void put(std::int64_t bytes, bool flag) override {
    transport::PutRequest& request = requests_[started_++ % requests_.size()];
    request = {.target = peer(),
               .key = key_,
               .offset = most_bytes,
               .data = bytes_.data(),
               .bytes = bytes,
               .flag = flag,
               .open = &open_};
    ++open_;
    memory_.put(request);
  }
  void wait_for_flag() override {
    Pause pause;
    for (++awaited_; memory_.flags(peer(), 0) < awaited_; pause()) turn();
  }
  void settle() override {
    Pause pause;
    for (; open_ > 0; pause()) turn();
  }
  template <class Turn>
  static void meet_while(Turn&& turn) {
    const int place = ++shared->arrived[self];
    while (shared->arrived[1 - self] < place) turn();
  }

 private:
  Rank peer() const { return Rank{1 - self}; }
  void turn() {
    if (memory_.progress() == transport::Transport::Progress::failed) die(memory_.error().sentence());
  }
  fabric::FabricRemoteMemory memory_;
  std::vector<std::byte> bytes_;
  std::vector<transport::PutRequest> requests_ = std::vector<transport::PutRequest>(4096);
  transport::MemoryKey key_;
  std::uint64_t started_ = 0;
  std::int64_t awaited_ = 0;
  std::int32_t open_ = 0;
};

int exchange(const void* mine, void* all, std::size_t bytes, void*) {
  std::memcpy(shared->cards[self], mine, bytes);
  meet();
  for (std::size_t rank = 0; rank < 2; ++rank)
    std::memcpy(static_cast<std::byte*>(all) + rank * bytes, shared->cards[rank], bytes);
  meet();
  return 0;
}

class Program final : public Way {
 public:
  Program(const std::string& provider, bool allocates) {
    check(kumihimo_rma_open(self, 2, exchange, nullptr, ("provider=" + provider).c_str(), &rma_));
    bytes_.resize(2 * most_bytes);
    kumihimo_rma_key mine;
    void* memory = nullptr;
    check(allocates ? kumihimo_rma_allocate(rma_, 2 * most_bytes, &memory, &mine)
                    : kumihimo_rma_register(rma_, bytes_.data(), 2 * most_bytes, &mine));
    exchange(&mine, keys_, sizeof mine, nullptr);
  }
  ~Program() override { kumihimo_rma_close(rma_, 10); }
  void put(std::int64_t bytes, bool flag) override {
    const kumihimo_rma_key* const key = &keys_[1 - self];
    check(flag ? kumihimo_rma_put_flag(rma_, bytes_.data(), bytes, key, most_bytes, 0, &open_)
               : kumihimo_rma_put(rma_, bytes_.data(), bytes, key, most_bytes, &open_));
  }
  void wait_for_flag() override { check(kumihimo_rma_wait_flag(rma_, 0, ++awaited_, 1 - self, 60)); }
  void settle() override { check(kumihimo_rma_wait(rma_, &open_, 60)); }

 private:
  static void check(int code) {
    if (code != KUMIHIMO_RMA_OK) die(kumihimo_rma_error());
  }
  kumihimo_rma* rma_ = nullptr;
  kumihimo_rma_key keys_[2] = {};
  kumihimo_rma_completion open_ = KUMIHIMO_RMA_NOTHING;
  std::vector<std::byte> bytes_;
  std::int64_t awaited_ = 0;
};

// A put is a message; every put has its receive, posted a window ahead.
class Messages final : public Way {
 public:
  explicit Messages(const std::shared_ptr<fabric::FabricPort>& port) : messages_(port, meet_ranks(*port, 2)) {
    source_.resize(most_bytes), target_.resize(most_bytes);
  }
  void expect(std::int64_t bytes) { // one more
    Receive& receive = receives_[expected_ % receives_.size()];
    receive.open = 1;
    receive.request = {};
    receive.request.key.peer = Rank{1 - self};
    receive.request.key.instance = ++expected_;
    receive.request.bytes = bytes;
    receive.request.open = &receive.open;
    receive.request.copy_into({target_.data(), nullptr, 0}, 1);
    messages_.receive(receive.request);
  }
  void put(std::int64_t bytes, bool) override {
    Send& send = sends_[sent_ % sends_.size()];
    send.request = {};
    send.request.key.peer = Rank{1 - self};
    send.request.key.instance = ++sent_;
    send.request.bytes = bytes;
    send.request.open = &open_;
    send.request.only = {source_.data(), bytes};
    send.request.first_piece = &send.request.only;
    send.request.piece_count = 1;
    ++open_;
    messages_.send(send.request);
  }
  void wait_for_flag() override {
    const Receive& receive = receives_[awaited_++ % receives_.size()];
    Pause pause;
    for (; receive.open > 0; pause()) turn();
  }
  void settle() override {
    Pause pause;
    for (; open_ > 0; pause()) turn();
  }
  void drain() {
    while (!messages_.drained()) turn();
    Puts::meet_while([&] { turn(); });
  }

 private:
  struct Receive {
    transport::ReceiveRequest request;
    std::int32_t open = 0;
  };
  struct Send {
    transport::SendRequest request;
  };
  void turn() {
    messages_.progress();
    if (messages_.error()) die(messages_.error()->sentence());
  }
  fabric::FabricMessages messages_;
  std::vector<std::byte> source_, target_;
  std::vector<Receive> receives_ = std::vector<Receive>(4096);
  std::vector<Send> sends_ = std::vector<Send>(4096);
  std::uint64_t expected_ = 0, sent_ = 0, awaited_ = 0;
  std::int32_t open_ = 0;
};

class Mapped final : public Way {
 public:
  void put(std::int64_t bytes, bool flag) override {
    std::memcpy(mapped[1 - self], source_.data(), static_cast<std::size_t>(bytes));
    if (flag) shared->flags[1 - self][0].store(++sent_, std::memory_order_release);
  }
  void wait_for_flag() override {
    Pause pause;
    for (++awaited_; shared->flags[self][0].load(std::memory_order_acquire) < awaited_;) pause();
  }
  void settle() override {}

 private:
  std::vector<std::byte> source_ = std::vector<std::byte>(most_bytes);
  std::uint64_t sent_ = 0, awaited_ = 0;
};

// --- measurements

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

int turns_for(std::int64_t bytes) { return bytes <= 4096 ? 400 : bytes <= 65'536 ? 100 : 30; }

void expect_next(Way& way, std::int64_t bytes) {
  if (auto* const messages = dynamic_cast<Messages*>(&way)) messages->expect(bytes);
}

// Seconds one way.
double latency(Way& way, std::int64_t bytes) {
  const int turns = turns_for(bytes);
  expect_next(way, bytes);
  const auto begin = Clock::now();
  for (int turn = 0; turn < turns; ++turn) {
    if (self == 0) way.put(bytes, true);
    way.wait_for_flag();
    if (turn + 1 < turns) expect_next(way, bytes);
    if (self == 1) way.put(bytes, true);
    way.settle();
  }
  return seconds_since(begin) / turns / 2;
}

// Seconds for a put of many, each with its flag.
double of_many(Way& way, std::int64_t bytes) {
  const int windows = std::max(2, turns_for(bytes) / 10);
  const auto begin = Clock::now();
  for (int i = 0; i < windows; ++i) {
    if (self == 0) {
      expect_next(way, 8);
      for (int put = 0; put < window; ++put) way.put(bytes, true);
      way.wait_for_flag(); // the answer
    } else {
      for (int put = 0; put < window; ++put) expect_next(way, bytes);
      for (int put = 0; put < window; ++put) way.wait_for_flag();
      way.put(8, true);
    }
    way.settle();
  }
  return seconds_since(begin) / windows / window;
}

void measure(const char* name, Way& way) {
  for (const std::int64_t bytes : {8L, 512L, 4096L, 16'384L, 65'536L, 262'144L, 1L << 20}) {
    const double one_way = latency(way, bytes);
    const double each = of_many(way, bytes);
    if (self == 0)
      std::printf("{\"way\": \"%s\", \"bytes\": %lld, \"us\": %.6g, \"GB_s\": %.6g, \"rate\": %.6g}\n", name,
                  static_cast<long long>(bytes), one_way * 1e6, static_cast<double>(bytes) / each / 1e9, 1 / each);
  }
}

void* map(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) die("mmap");
  return memory;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fputs("usage: fabric_pair PROVIDER [ROUNDS]\n", stderr), 2;
  const std::string provider = argv[1];
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  shared = new (map(sizeof(Shared))) Shared{};
  for (std::byte*& part : mapped) part = static_cast<std::byte*>(map(most_bytes));
  const pid_t child = fork();
  self = child == 0 ? 1 : 0;
  cpu_set_t own; // a processor each, if there are two
  CPU_ZERO(&own);
  CPU_SET(self, &own);
  sched_setaffinity(0, sizeof own, &own);
  {
    Loop loop(provider);
    fabric::PortOptions options;
    options.provider = {provider, true, 2};
    auto opened = fabric::FabricPort::open(options);
    if (!opened) die(opened.error().sentence());
    const std::shared_ptr<fabric::FabricPort> port = std::move(*opened);
    Puts puts(port);
    Program program(provider, false), allocated(provider, true);
    Messages messages(port);
    Mapped by_stores;
    // Connections are made, and channels grow, before the first round.
    for (Way* const way : std::initializer_list<Way*>{&loop, &puts, &program, &messages, &allocated, &by_stores})
      latency(*way, 8);
    for (int round = 0; round < rounds; ++round) {
      measure("loop", loop);
      measure("puts", puts);
      measure("program", program);
      measure("messages", messages);
      measure("allocated", allocated);
      measure("mapped", by_stores);
    }
    messages.drain();
  }
  std::fflush(stdout);
  if (self == 1) std::_Exit(0);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}
