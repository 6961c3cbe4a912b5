#include "plan/kernels/problems.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

namespace kumihimo::plan {

#define KERNEL(name) const KernelProblem& name##_kernel();
#include "plan/kernels/kernels.def"
#undef KERNEL

std::span<const NamedKernel> all_kernels() {
#define KERNEL(name) {#name, name##_kernel()},
  static const NamedKernel rows[] = {
#include "plan/kernels/kernels.def"
  };
#undef KERNEL
  return rows;
}

const KernelProblem* find_kernel(std::string_view name) {
  const auto at = std::ranges::find(all_kernels(), name, &NamedKernel::name);
  return at == all_kernels().end() ? nullptr : &at->kernel;
}

std::vector<Key> kernel_keys() {
  std::vector<Key> all;
  for (const auto& [name, kernel] : all_kernels())
    for (Key& key : kernel.keys()) {
      key.insert(key.begin(), {"kernel", std::string(name)});
      all.push_back(std::move(key));
    }
  return all;
}

Result<ParameterValues> parameters_of(const Entry& entry, std::string_view variant,
                                      std::span<const TakenParameter> taken) {
  const nlohmann::json given = TRY(entry.parameters());
  ParameterValues values;
  for (const auto& [name, value] : given.items()) {
    const auto takes = std::find_if(taken.begin(), taken.end(), [&name = name](const TakenParameter& each) {
      return each.parameter->name == name;
    });
    if (takes == taken.end())
      return wrong_value(fmt::format("{}: {} has no parameter {}", entry.where(), variant, name), {}, "leave it out");
    const std::vector<std::int64_t> compiled = tuning_values(*takes);
    if (!value.is_number_integer() || std::find(compiled.begin(), compiled.end(), value) == compiled.end())
      return wrong_value(fmt::format("{}: {} must be one of {}", entry.where(), name, fmt::join(compiled, ", ")),
                         value.dump());
    values[name] = value;
  }
  return values;
}

std::optional<PageArray> PageArray::make(std::int64_t bytes) {
  constexpr std::size_t page = 4096;
  const std::size_t whole = (static_cast<std::size_t>(bytes) + page) / page * page;
  PageArray array;
  array.data_.reset(static_cast<char*>(std::aligned_alloc(page, whole)));
  if (!array.data_) return std::nullopt;
  std::memset(array.data_.get(), 1, whole);
  return array;
}

Error no_memory(std::int64_t bytes, int arrays) {
  return failed("out of memory", fmt::format("{} arrays of {} bytes", arrays, bytes), "leave this size out");
}

std::atomic<std::uint64_t> read_words;

} // namespace kumihimo::plan
