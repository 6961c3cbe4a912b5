#include "plan/kernels/problems.hpp"

#include "kernels/check.hpp"
#include "kernels/read.hpp"
#include "kernels/variants.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

namespace kumihimo::plan {
namespace {

using problem::Candidate;
using problem::Key;
using problem::Trial;

// --- kernels in arrays of their own, timed as executors run them

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
  std::int64_t calls() const override { return 2; }
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

  SharedCopyTrial(Array from, Array ring, std::int64_t bytes)
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

// A run is two calls, into an array of its own and onto an operand: executors reduce in both ways. Bound: the operands
// of both calls are read.
Result<std::unique_ptr<Trial>> reduce_trial(Operation operation, DataType type, std::int64_t bytes) {
  auto left = Array::make(bytes), right = Array::make(bytes), target = Array::make(bytes);
  if (!left || !right || !target) return no_memory(bytes, 3);
  return std::unique_ptr<Trial>(
      new ReduceTrial(std::move(*left), std::move(*right), std::move(*target), operation, type, bytes));
}

// A run is a copy that the same core reads. Bound: source and target are read.
Result<std::unique_ptr<Trial>> local_copy_trial(std::int64_t bytes) {
  auto source = Array::make(bytes), target = Array::make(bytes);
  if (!source || !target) return no_memory(bytes, 2);
  return std::unique_ptr<Trial>(new LocalCopyTrial(std::move(*source), std::move(*target), bytes));
}

// A run is a copy into the next slot of a ring, which a thread on another core reads, as messages pass between ranks of
// a node. Bound: the source is read. Error: this process may use one processor alone.
Result<std::unique_ptr<Trial>> shared_copy_trial(std::int64_t bytes) {
  if (const int processors = processors_allowed(); processors < 2)
    return not_applicable("copies to another core need 2 processors", processors);
  auto source = Array::make(bytes), ring = Array::make(SharedCopyTrial::slots * SharedCopyTrial::stride(bytes));
  if (!source || !ring) return no_memory(bytes, 1 + static_cast<int>(SharedCopyTrial::slots));
  return std::unique_ptr<Trial>(new SharedCopyTrial(std::move(*source), std::move(*ring), bytes));
}

// --- problems

template <class Row>
std::vector<problem::Variant> variants_of(std::span<const Row> rows, bool (*has)(const Row& row)) {
  std::vector<problem::Variant> found;
  for (const Row& row : rows)
    if (has(row)) {
      found.push_back({std::string(row.name), std::string(row.summary), {}});
      if constexpr (requires { row.parameters; })
        found.back().parameters.assign(row.parameters.begin(), row.parameters.end());
    }
  return found;
}
template <class Row>
std::vector<problem::Variant> running_here(std::span<const Row> rows) {
  return variants_of<Row>(rows, [](const Row& row) { return row.runs_here(); });
}
template <class Row>
std::vector<problem::Variant> built(std::span<const Row> rows) {
  return variants_of<Row>(rows, [](const Row&) { return true; });
}

const ReduceClass& class_of(const Key& key) {
  return *std::find_if(reduce_classes().begin(), reduce_classes().end(),
                       [&](const ReduceClass& c) { return c.operation == key[1].second && c.type == key[2].second; });
}

kernels::Reader reader_of(const Key& key) {
  return key[1].second == name_of(kernels::Reader::same_core) ? kernels::Reader::same_core
                                                              : kernels::Reader::other_core;
}

class Reduce final : public problem::Problem {
 public:
  std::vector<problem::Variant> variants(const Key&) const override { return running_here(kernels::reduce_variants()); }
  Candidate untuned(const Key& key, std::int64_t size) const override {
    const auto [operation, type] = class_of(key).members.front();
    return {std::string(kernels::untuned().of(type, operation).at(size)->name), {}};
  }
  Status check(const Key& key, const Candidate& candidate) const override {
    const kernels::ReduceVariant& variant = *kernels::find_reduce_variant(candidate.variant);
    for (const auto& [operation, type] : class_of(key).members)
      if (std::string wrong = kernels::first_fault(variant.kernel(type, operation), type, operation); !wrong.empty())
        return failed(std::move(wrong));
    return Nothing{};
  }
  Result<std::unique_ptr<problem::Trial>> trial(const Key& key, std::int64_t size) const override {
    const auto [operation, type] = class_of(key).members.front();
    return reduce_trial(operation, type, size);
  }
};

class Copy final : public problem::Problem {
 public:
  std::vector<problem::Variant> variants(const Key&) const override { return running_here(kernels::copy_variants()); }
  Candidate untuned(const Key& key, std::int64_t size) const override {
    const kernels::CopyChoice usual = kernels::untuned().of(reader_of(key)).at(size);
    return {std::string(usual.variant->name), usual.parameters};
  }
  Status check(const Key&, const Candidate& candidate) const override {
    std::string wrong =
        kernels::first_fault(kernels::find_copy_variant(candidate.variant)->kernel(candidate.parameters));
    return wrong.empty() ? Status(Nothing{}) : failed(std::move(wrong));
  }
  Result<std::unique_ptr<problem::Trial>> trial(const Key& key, std::int64_t size) const override {
    return reader_of(key) == kernels::Reader::same_core ? local_copy_trial(size) : shared_copy_trial(size);
  }
};

std::vector<ReduceClass> made_classes() {
  const std::pair<const char*, std::vector<Operation>> operations[] = {
      {"sum", {Operation::sum}},
      {"minmax", {Operation::max, Operation::min}},
      {"prod", {Operation::prod}},
      {"bitwise", {Operation::band, Operation::bor, Operation::bxor}},
      {"logical", {Operation::land, Operation::lor, Operation::lxor}}};
  const std::pair<const char*, std::vector<DataType>> types[] = {{"float64", {DataType::float64}},
                                                                 {"float32", {DataType::float32}},
                                                                 {"int32", {DataType::int32, DataType::uint32}},
                                                                 {"int64", {DataType::int64, DataType::uint64}},
                                                                 {"int8", {DataType::int8, DataType::uint8}},
                                                                 {"int16", {DataType::int16, DataType::uint16}}};
  std::vector<ReduceClass> classes;
  for (const auto& [operation, these] : operations)
    for (const auto& [type, those] : types) {
      ReduceClass each{operation, type, {}};
      for (const Operation op : these)
        for (const DataType t : those)
          if (is_applicable(t, op)) each.members.emplace_back(op, t);
      if (!each.members.empty()) classes.push_back(std::move(each));
    }
  return classes;
}

} // namespace

const std::vector<ReduceClass>& reduce_classes() {
  static const std::vector<ReduceClass> classes = made_classes();
  return classes;
}

std::vector<Key> kernel_keys() {
  std::vector<Key> keys;
  for (const kernels::Reader reader : kernels::readers)
    keys.push_back({{"kernel", "copy"}, {"reader", std::string(name_of(reader))}});
  for (const ReduceClass& each : reduce_classes())
    keys.push_back({{"kernel", "reduce"}, {"operation", each.operation}, {"type", each.type}});
  return keys;
}

std::vector<problem::Variant> kernel_variants(std::string_view kernel) {
  return kernel == "reduce" ? built(kernels::reduce_variants()) : built(kernels::copy_variants());
}

const problem::Problem& kernel_problem(const Key& key) {
  static const Reduce reduce;
  static const Copy copy;
  if (key[0].second == "reduce") return reduce;
  return copy;
}

} // namespace kumihimo::plan
