#include "trace/rank_files.hpp"

#include <utility>

namespace kumihimo::trace {

Result<OpenedFile> open_file(const std::string& path) {
  auto map = TRY(MappedFile::open(path, "a trace", "record the program again"));
  auto file = file_in(map.bytes());
  if (!file) return located(path, file.error());
  return OpenedFile{std::make_shared<const MappedFile>(std::move(map)), *file};
}

Result<OpenedFile> RankFiles::open(std::int32_t rank) {
  const auto at = static_cast<std::size_t>(rank);
  auto opened = TRY(open_file(paths_[at]));
  if (!known_[at]) known_[at] = opened.map->identity();
  if (*known_[at] == opened.map->identity()) return opened;
  return failed("a trace was changed while it was read", paths_[at], "replay it again");
}

} // namespace kumihimo::trace
