#include "plan/kernels/wisdom.hpp"

#include "plan/kernels/problems.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kumihimo::plan {
namespace {

Status take(const Entry& entry, kernels::Selection& choices) {
  const Result<std::string> kernel = entry.word("kernel");
  if (!kernel) return kernel.error();
  const SizeRange bytes = TRY(entry.sizes());
  if (const KernelProblem* const found = find_kernel(*kernel)) return found->take(entry, bytes, choices);
  std::vector<std::string_view> names;
  for (const NamedKernel& each : all_kernels()) names.push_back(each.name);
  return wrong_value(fmt::format("{}: kernel must be {}", entry.where(), fmt::join(names, " or ")),
                     fmt::format("'{}'", *kernel));
}

} // namespace

Result<KernelWisdom> parse_kernel_wisdom(std::string_view text, const problem::Fingerprint& machine,
                                         problem::WisdomOrigin found) {
  const Result<problem::WisdomFile> file = problem::WisdomFile::parse(text, {machine, {}}, found);
  if (!file) return file.error();
  KernelWisdom wisdom{kernels::untuned(), 0};
  for (const Entry& entry : file->entries()) {
    if (entry.has("collective")) continue;
    if (Status s = take(entry, wisdom.choices); !s) return s.error();
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
