#include "plan/kernels/problems.hpp"

#include "kernels/check.hpp"
#include "plan/kernels/trials.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::plan {
namespace {

using problem::Candidate;
using problem::Key;

template <class Row>
std::vector<problem::Variant> running_here(std::span<const Row> rows) {
  std::vector<problem::Variant> found;
  for (const Row& row : rows)
    if (row.runs_here()) found.push_back({std::string(row.name), std::string(row.summary), {}});
  return found;
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
    return {std::string(kernels::untuned().of(reader_of(key)).at(size)->name), {}};
  }
  Status check(const Key&, const Candidate& candidate) const override {
    std::string wrong = kernels::first_fault(kernels::find_copy_variant(candidate.variant)->kernel);
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

const problem::Problem& kernel_problem(const Key& key) {
  static const Reduce reduce;
  static const Copy copy;
  if (key[0].second == "reduce") return reduce;
  return copy;
}

} // namespace kumihimo::plan
