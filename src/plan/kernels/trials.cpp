#include "plan/kernels/trials.hpp"

#include "kernels/read.hpp"
#include "kernels/variants.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

namespace kumihimo::plan {
namespace {

using problem::Candidate;
using problem::Trial;

// Aligned to a page, and written, so that no page fault is measured.
class Array {
 public:
  static std::optional<Array> make(std::int64_t bytes) {
    constexpr std::size_t page = 4096;
    const std::size_t whole = (static_cast<std::size_t>(bytes) + page) / page * page;
    Array array;
    array.data_.reset(static_cast<char*>(std::aligned_alloc(page, whole)));
    if (!array.data_) return std::nullopt;
    std::memset(array.data_.get(), 1, whole);
    return array;
  }
  char* get() const { return data_.get(); }

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  std::unique_ptr<char, Free> data_;
};

Error no_memory(std::int64_t bytes, int arrays) {
  return failed("out of memory", fmt::format("{} arrays of {} bytes", arrays, bytes), "leave this size out");
}

// Neither zeros nor subnormals nor infinities, whatever is made of them.
void fill(char* array, DataType type, std::int64_t bytes) {
  const auto write = [&](auto one) {
    for (std::int64_t at = 0; at + static_cast<std::int64_t>(sizeof one) <= bytes; at += sizeof one)
      std::memcpy(array + at, &one, sizeof one);
  };
  if (type == DataType::float64) write(1.25);
  if (type == DataType::float32) write(1.25f);
}

std::atomic<std::uint64_t> read_words; // so that nothing that was read is left out

struct ReduceTrial final : Trial {
  Array left, right, target;
  Operation operation;
  DataType type;
  std::int64_t bytes;

  ReduceTrial(Array l, Array r, Array t, Operation op, DataType of, std::int64_t size)
      : left(std::move(l)), right(std::move(r)), target(std::move(t)), operation(op), type(of), bytes(size) {
    fill(left.get(), type, bytes);
    fill(right.get(), type, bytes);
  }
  void run(const Candidate& candidate, std::int64_t times) override {
    const kernels::ReduceKernel kernel = kernels::find_reduce_variant(candidate.variant)->kernel(type, operation);
    const std::int64_t count = bytes / size_of(type);
    for (std::int64_t i = 0; i < times; ++i) {
      kernel(left.get(), right.get(), target.get(), count);
      kernel(target.get(), right.get(), target.get(), count);
    }
  }
  void run_bound(std::int64_t times) override {
    for (std::int64_t i = 0; i < times; ++i)
      read_words ^= kernels::read_all(left.get(), bytes) ^ kernels::read_all(right.get(), bytes) ^
                    kernels::read_all(target.get(), bytes) ^ kernels::read_all(right.get(), bytes);
  }
};

struct LocalCopyTrial final : Trial {
  Array source, target;
  std::int64_t bytes;

  LocalCopyTrial(Array from, Array to, std::int64_t size)
      : source(std::move(from)), target(std::move(to)), bytes(size) {}
  void run(const Candidate& candidate, std::int64_t times) override {
    const kernels::CopyKernel kernel = kernels::find_copy_variant(candidate.variant)->kernel;
    for (std::int64_t i = 0; i < times; ++i) {
      kernel(source.get(), target.get(), bytes);
      read_words ^= kernels::read_all(target.get(), bytes);
    }
  }
  void run_bound(std::int64_t times) override {
    for (std::int64_t i = 0; i < times; ++i)
      read_words ^= kernels::read_all(source.get(), bytes) ^ kernels::read_all(target.get(), bytes);
  }
};

// Waits for another thread, which may have to share this processor.
template <class Ready>
void wait_for(Ready ready) {
  for (int looks = 0; !ready(); ++looks)
    if (looks > 1000) std::this_thread::yield();
}

class SharedCopyTrial final : public Trial {
 public:
  static constexpr std::int64_t slots = 16;

  SharedCopyTrial(Array from, Array ring, std::int64_t bytes)
      : source_(std::move(from)), ring_(std::move(ring)), bytes_(bytes), reader_([this] { read(); }) {}
  ~SharedCopyTrial() override {
    ends_ = true;
    reader_.join();
  }
  void run(const Candidate& candidate, std::int64_t times) override {
    const kernels::CopyKernel kernel = kernels::find_copy_variant(candidate.variant)->kernel;
    std::int64_t filled = filled_.load(std::memory_order_relaxed);
    for (std::int64_t i = 0; i < times; ++i) {
      wait_for([&] { return filled - emptied_.load(std::memory_order_acquire) < slots; });
      kernel(source_.get(), slot(filled), bytes_);
      filled_.store(++filled, std::memory_order_release);
    }
    wait_for([&] { return emptied_.load(std::memory_order_acquire) == filled; });
  }
  void run_bound(std::int64_t times) override {
    for (std::int64_t i = 0; i < times; ++i) read_words ^= kernels::read_all(source_.get(), bytes_);
  }

 private:
  char* slot(std::int64_t n) const { return ring_.get() + n % slots * stride(bytes_); }
  void read() {
    std::uint64_t words = 0;
    for (std::int64_t emptied = 0;; ++emptied) {
      wait_for([&] { return ends_ || filled_.load(std::memory_order_acquire) > emptied; });
      if (ends_) break;
      words ^= kernels::read_all(slot(emptied), bytes_);
      emptied_.store(emptied + 1, std::memory_order_release);
    }
    read_words ^= words;
  }

 public:
  static std::int64_t stride(std::int64_t bytes) { return bytes + 128; } // slots begin at different cache sets

 private:
  Array source_, ring_;
  std::int64_t bytes_;
  alignas(64) std::atomic<std::int64_t> filled_ = 0;
  alignas(64) std::atomic<std::int64_t> emptied_ = 0;
  alignas(64) std::atomic<bool> ends_ = false;
  std::thread reader_;
};

int processors_allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 2; // more than the set has room for
  return CPU_COUNT(&set);
}

} // namespace

Result<std::unique_ptr<Trial>> reduce_trial(Operation operation, DataType type, std::int64_t bytes) {
  auto left = Array::make(bytes), right = Array::make(bytes), target = Array::make(bytes);
  if (!left || !right || !target) return no_memory(bytes, 3);
  return std::unique_ptr<Trial>(
      new ReduceTrial(std::move(*left), std::move(*right), std::move(*target), operation, type, bytes));
}

Result<std::unique_ptr<Trial>> local_copy_trial(std::int64_t bytes) {
  auto source = Array::make(bytes), target = Array::make(bytes);
  if (!source || !target) return no_memory(bytes, 2);
  return std::unique_ptr<Trial>(new LocalCopyTrial(std::move(*source), std::move(*target), bytes));
}

Result<std::unique_ptr<Trial>> shared_copy_trial(std::int64_t bytes) {
  if (const int processors = processors_allowed(); processors < 2)
    return not_applicable("copies to another core need 2 processors", processors);
  auto source = Array::make(bytes), ring = Array::make(SharedCopyTrial::slots * SharedCopyTrial::stride(bytes));
  if (!source || !ring) return no_memory(bytes, 1 + static_cast<int>(SharedCopyTrial::slots));
  return std::unique_ptr<Trial>(new SharedCopyTrial(std::move(*source), std::move(*ring), bytes));
}

} // namespace kumihimo::plan
