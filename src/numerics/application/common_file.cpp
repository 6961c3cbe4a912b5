#include "application/common_file.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace kumihimo::application {

using shared_memory::SharedFile;

namespace {

// The names of all groups' files, each as two numbers that doubles hold exactly.
std::vector<SharedFile::Name> names_of(Processes& processes, const std::optional<SharedFile>& own, std::size_t group,
                                       std::size_t groups) {
  std::vector<double> halves(2 * groups);
  if (own) {
    const auto name = static_cast<std::uint64_t>(own->name());
    halves[2 * group] = static_cast<double>(name >> 32);
    halves[2 * group + 1] = static_cast<double>(name & 0xFFFFFFFFU);
  }
  halves = processes.largest(halves);
  std::vector<SharedFile::Name> names;
  for (std::size_t i = 0; i < groups; ++i)
    names.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(halves[2 * i]) << 32 |
                                              static_cast<std::uint64_t>(halves[2 * i + 1])));
  return names;
}

} // namespace

Result<SharedFile> common_file(Processes& processes, std::int64_t bytes,
                               const std::vector<std::int32_t>& group_of_rank) {
  const auto rank = static_cast<std::size_t>(processes.rank());
  const auto group = static_cast<std::size_t>(group_of_rank[rank]);
  const bool is_first = std::ranges::find(group_of_rank, group_of_rank[rank]) - group_of_rank.begin() ==
                        static_cast<std::ptrdiff_t>(rank);
  std::optional<SharedFile> file;
  Status mine = Nothing{};
  const auto keep = [&](Result<SharedFile> opened) {
    if (opened)
      file.emplace(std::move(*opened));
    else
      mine = opened.error();
  };
  if (is_first) keep(SharedFile::create(bytes));
  if (Status s = processes.agree(mine); !s) return s.error();
  const auto groups = static_cast<std::size_t>(*std::ranges::max_element(group_of_rank)) + 1;
  const SharedFile::Name name = names_of(processes, file, group, groups)[group];
  if (!is_first) keep(SharedFile::open(name));
  if (Status s = processes.agree(mine); !s) return s.error();
  file->unlink();
  return std::move(*file);
}

} // namespace kumihimo::application
