// copy: the copies of the executors. Key: reader (kernels::Reader).
#include "kernels/check.hpp"
#include "kernels/read.hpp"
#include "plan/kernels/kernel.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <thread>

namespace kumihimo::plan {
namespace {

struct LocalCopyTrial final : Trial {
  PageArray source, target;
  std::int64_t bytes;

  LocalCopyTrial(PageArray from, PageArray to, std::int64_t size)
      : source(std::move(from)), target(std::move(to)), bytes(size) {}
  void run(const Candidate& candidate, std::int64_t times) override {
    const kernels::CopyKernel kernel = kernels::find_copy_variant(candidate.variant)->kernel(candidate.parameters);
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

  SharedCopyTrial(PageArray from, PageArray ring, std::int64_t bytes)
      : source_(std::move(from)), ring_(std::move(ring)), bytes_(bytes), reader_([this] { read(); }) {}
  ~SharedCopyTrial() override {
    ends_ = true;
    reader_.join();
  }
  void run(const Candidate& candidate, std::int64_t times) override {
    const kernels::CopyKernel kernel = kernels::find_copy_variant(candidate.variant)->kernel(candidate.parameters);
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
  PageArray source_, ring_;
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

// A run is a copy that the same core reads. Bound: source and target are read.
Result<std::unique_ptr<Trial>> local_copy_trial(std::int64_t bytes) {
  auto source = PageArray::make(bytes), target = PageArray::make(bytes);
  if (!source || !target) return no_memory(bytes, 2);
  return std::unique_ptr<Trial>(new LocalCopyTrial(std::move(*source), std::move(*target), bytes));
}

// A run is a copy into the next slot of a ring, which a thread on another core reads, as messages pass between ranks of
// a node. Bound: the source is read. Error: this process may use one processor alone.
Result<std::unique_ptr<Trial>> shared_copy_trial(std::int64_t bytes) {
  if (const int processors = processors_allowed(); processors < 2)
    return not_applicable("a copy to another core needs at least 2 processors", processors);
  auto source = PageArray::make(bytes), ring = PageArray::make(SharedCopyTrial::slots * SharedCopyTrial::stride(bytes));
  if (!source || !ring) return no_memory(bytes, 1 + static_cast<int>(SharedCopyTrial::slots));
  return std::unique_ptr<Trial>(new SharedCopyTrial(std::move(*source), std::move(*ring), bytes));
}

kernels::CopyReader reader_of(const Key& key) {
  return key[1].second == name_of(kernels::CopyReader::same_core) ? kernels::CopyReader::same_core
                                                                  : kernels::CopyReader::other_core;
}

class CopyProblem final : public KernelProblem {
 public:
  std::vector<VariantDescription> built(bool running_here) const override {
    return rows_of(kernels::copy_variants(), running_here);
  }
  std::vector<Key> keys() const override {
    std::vector<Key> keys;
    for (const kernels::CopyReader reader : kernels::readers)
      keys.push_back({{"reader", std::string(name_of(reader))}});
    return keys;
  }
  Candidate untuned(const Key& key, std::int64_t size) const override {
    const kernels::CopyChoice usual = kernels::untuned().of(reader_of(key)).at(size);
    return {std::string(usual.variant->name), usual.parameters};
  }
  Status check(const Key&, const Candidate& candidate) const override {
    std::string wrong =
        kernels::first_fault(kernels::find_copy_variant(candidate.variant)->kernel(candidate.parameters));
    return wrong.empty() ? Status(Nothing{}) : failed(std::move(wrong));
  }
  Result<std::unique_ptr<Trial>> trial(const Key& key, std::int64_t size) const override {
    return reader_of(key) == kernels::CopyReader::same_core ? local_copy_trial(size) : shared_copy_trial(size);
  }
  Status take(const Entry& entry, SizeRange bytes, kernels::Selection& choices) const override {
    const std::string name = TRY(entry.word("reader"));
    const auto reader = std::find_if(kernels::readers.begin(), kernels::readers.end(),
                                     [&](kernels::CopyReader each) { return name_of(each) == name; });
    if (reader == kernels::readers.end())
      return wrong_value(entry.where() + ": reader must be 'same core' or 'other core'", fmt::format("'{}'", name));
    const auto variant = TRY(variant_of(entry, kernels::copy_variants()));
    const ParameterValues parameters = TRY(parameters_of(entry, variant->name, variant->parameters));
    if (!kernels::environment_decides_copies(*reader)) choices.of(*reader).give(bytes, {variant, parameters});
    return Nothing{};
  }
};

} // namespace

const KernelProblem& copy_kernel() {
  static const CopyProblem kernel;
  return kernel;
}

} // namespace kumihimo::plan
