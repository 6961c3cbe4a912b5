// The files of all ranks of a recorded program, each of which is mapped when it is needed and no longer.
#pragma once

#include "base/mapped_file.hpp"
#include "trace/file.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kumihimo::trace {

// Error: the file cannot be mapped, or is no file of events.
struct OpenedFile {
  std::shared_ptr<const MappedFile> map;
  File file; // in the map
};
Result<OpenedFile> open_file(const std::string& path);

class RankFiles {
 public:
  explicit RankFiles(std::vector<std::string> paths) : paths_(std::move(paths)), known_(paths_.size()) {}
  // Error: also if it is no longer the file that was opened first, which has been checked.
  Result<OpenedFile> open(std::int32_t rank);

 private:
  std::vector<std::string> paths_; // by rank
  std::vector<std::optional<MappedFile::Identity>> known_;
};

} // namespace kumihimo::trace
