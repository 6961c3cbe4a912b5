#include "plan/kernels/wisdom.hpp"

#include "plan/kernels/problems.hpp"
#include "problem/wisdom_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kumihimo::plan {
namespace {

using problem::Entry;

template <class Row>
Result<const Row*> variant_of(const Entry& entry, std::span<const Row> rows) {
  const std::string name = TRY(entry.word("variant"));
  std::string running;
  for (const Row& row : rows) {
    if (!row.runs_here()) continue;
    if (row.name == name) return &row;
    running += fmt::format("{}{}", running.empty() ? "" : ", ", row.name);
  }
  return wrong_value(fmt::format("{}: the variant must be one that runs here ({})", entry.where(), running),
                     fmt::format("'{}'", name), "tune again");
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
    const std::vector<std::int64_t> compiled = takes->parameter->values(takes->initial);
    if (!value.is_number_integer() || std::find(compiled.begin(), compiled.end(), value) == compiled.end())
      return wrong_value(fmt::format("{}: {} must be one of {}", entry.where(), name, fmt::join(compiled, ", ")),
                         value.dump());
    values[name] = value;
  }
  return values;
}

Status take_reduce(const Entry& entry, SizeRange bytes, kernels::Choices& choices) {
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
  for (const auto& [op, t] : of->members) choices.of(t, op).set(bytes, variant);
  return Nothing{};
}

Status take_copy(const Entry& entry, SizeRange bytes, kernels::Choices& choices) {
  const std::string name = TRY(entry.word("reader"));
  const auto reader = std::find_if(kernels::readers.begin(), kernels::readers.end(),
                                   [&](kernels::Reader each) { return name_of(each) == name; });
  if (reader == kernels::readers.end())
    return wrong_value(entry.where() + ": reader must be 'same core' or 'other core'", fmt::format("'{}'", name));
  const auto variant = TRY(variant_of(entry, kernels::copy_variants()));
  const ParameterValues parameters = TRY(parameters_of(entry, variant->name, variant->parameters));
  if (!kernels::environment_decides_copies(*reader)) choices.of(*reader).set(bytes, {variant, parameters});
  return Nothing{};
}

Status take(const Entry& entry, kernels::Choices& choices) {
  const Result<std::string> kernel = entry.word("kernel");
  if (!kernel) return kernel.error();
  const SizeRange bytes = TRY(entry.sizes());
  if (*kernel == "reduce") return take_reduce(entry, bytes, choices);
  if (*kernel == "copy") return take_copy(entry, bytes, choices);
  return wrong_value(entry.where() + ": kernel must be reduce or copy", fmt::format("'{}'", *kernel));
}

} // namespace

Result<KernelWisdom> parse_kernel_wisdom(std::string_view text, const problem::Fingerprint& machine,
                                         problem::Found found) {
  const Result<problem::WisdomFile> file = problem::WisdomFile::parse(text, {machine, {}}, found);
  if (!file) return file.error();
  KernelWisdom wisdom{kernels::untuned(), 0};
  // The first that fits has a size: it is taken last.
  for (auto entry = file->entries().rbegin(); entry != file->entries().rend(); ++entry) {
    if (entry->has("collective")) continue;
    if (Status s = take(*entry, wisdom.choices); !s) return s.error();
    ++wisdom.size;
  }
  return wisdom;
}

Result<std::string> use_kernel_wisdom(const std::string& path) {
  const problem::Fingerprint machine = problem::this_machine();
  problem::WisdomText file = TRY(problem::find_wisdom(path, machine, kernel_subject));
  if (file.path.empty()) return std::string();
  const KernelWisdom wisdom = TRY(parse_kernel_wisdom(file.text, machine, file.found));
  if (wisdom.size == 0) return std::string();
  kernels::use(wisdom.choices);
  return std::move(file.path);
}

} // namespace kumihimo::plan
