// reduce: the reductions of the executors. Key: operation and type, of a class that the same instructions serve.
#include "kernels/check.hpp"
#include "kernels/read.hpp"
#include "plan/kernels/kernel.hpp"
#include "plan/kernels/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace kumihimo::plan {
namespace {

// Neither zeros nor subnormals nor infinities, whatever is made of them.
void fill(char* array, DataType type, std::int64_t bytes) {
  const auto write = [&](auto one) {
    for (std::int64_t at = 0; at + static_cast<std::int64_t>(sizeof one) <= bytes; at += sizeof one)
      std::memcpy(array + at, &one, sizeof one);
  };
  if (type == DataType::float64) write(1.25);
  if (type == DataType::float32) write(1.25f);
}

struct ReduceTrial final : Trial {
  PageArray left, right, target;
  Operation operation;
  DataType type;
  std::int64_t bytes;

  ReduceTrial(PageArray l, PageArray r, PageArray t, Operation op, DataType of, std::int64_t size)
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

// A run is two calls, into an array of its own and onto an operand: executors reduce in both ways. Bound: the operands
// of both calls are read.
Result<std::unique_ptr<Trial>> reduce_trial(Operation operation, DataType type, std::int64_t bytes) {
  auto left = PageArray::make(bytes), right = PageArray::make(bytes), target = PageArray::make(bytes);
  if (!left || !right || !target) return no_memory(bytes, 3);
  return std::unique_ptr<Trial>(
      new ReduceTrial(std::move(*left), std::move(*right), std::move(*target), operation, type, bytes));
}

const ReduceClass& class_of(const Key& key) {
  return *std::find_if(reduce_classes().begin(), reduce_classes().end(),
                       [&](const ReduceClass& c) { return c.operation == key[1].second && c.type == key[2].second; });
}

class Reduce final : public KernelProblem {
 public:
  std::vector<VariantDescription> built(bool running_here) const override {
    return rows_of(kernels::reduce_variants(), running_here);
  }
  std::vector<Key> keys() const override {
    std::vector<Key> keys;
    for (const ReduceClass& each : reduce_classes())
      keys.push_back({{"operation", each.operation}, {"type", each.type}});
    return keys;
  }
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
  Result<std::unique_ptr<Trial>> trial(const Key& key, std::int64_t size) const override {
    const auto [operation, type] = class_of(key).members.front();
    return reduce_trial(operation, type, size);
  }
  Status take(const Entry& entry, SizeRange bytes, kernels::Selection& choices) const override {
    const Result<std::string> operation = entry.word("operation"), type = entry.word("type");
    if (!operation) return operation.error();
    if (!type) return type.error();
    const auto of = std::find_if(reduce_classes().begin(), reduce_classes().end(),
                                 [&](const ReduceClass& c) { return c.operation == *operation && c.type == *type; });
    if (of == reduce_classes().end())
      return wrong_value(entry.where() + ": the operation must apply to the type",
                         fmt::format("{} of {}", *operation, *type));
    const auto variant = TRY(variant_of(entry, kernels::reduce_variants()));
    if (const auto none = parameters_of(entry, variant->name, {}); !none) return none.error();
    if (kernels::environment_decides_reductions()) return Nothing{};
    for (const auto& [op, t] : of->members) choices.of(t, op).give(bytes, variant);
    return Nothing{};
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

const KernelProblem& reduce_kernel() {
  static const Reduce kernel;
  return kernel;
}

} // namespace kumihimo::plan
