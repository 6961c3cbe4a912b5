#include "file_bench/work_folder.hpp"

#include "base/json_text.hpp"
#include "base/whole_file.hpp"
#include "file_bench/system_error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>

namespace kumihimo::file_bench {
namespace {

// Ticks since the system's start at which this process began (proc(5)): with its number it names the process for good.
std::int64_t own_start() {
  std::ifstream file("/proc/self/stat");
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  std::istringstream fields(all.substr(std::min(all.size(), all.rfind(')') + 1)));
  std::string field;
  for (int i = 0; i < 20; ++i) fields >> field; // the 22nd of all
  return field.empty() ? 0 : std::strtoll(field.c_str(), nullptr, 10);
}

std::string word_of_file(const char* path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

std::string own_pid_namespace() {
  std::array<char, 64> text{};
  const ssize_t length = readlink("/proc/self/ns/pid", text.data(), text.size() - 1);
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : "";
}

Result<std::string> made_by_rank_0(const std::string& parent) {
  const std::string folder = fmt::format("{}/{}{}-{}", parent, folder_prefix, getpid(), own_start());
  if (mkdir(folder.c_str(), 0777) != 0) return refused_by_system(fmt::format("{} cannot be made", folder), errno);
  const nlohmann::json marker = {{"kumihimo", "files"},
                                 {"pid", getpid()},
                                 {"start", own_start()},
                                 {"boot", word_of_file("/proc/sys/kernel/random/boot_id")},
                                 {"pid_namespace", own_pid_namespace()},
                                 {"uid", geteuid()}};
  WholeFile file(folder + "/" + marker_name);
  file.write(text_of_json(marker) + "\n");
  if (Status s = file.finish(); !s) {
    rmdir(folder.c_str());
    return s.error();
  }
  return folder;
}

} // namespace

Result<std::string> make_work_folder(const mpi_job::MpiJob& job, const std::string& parent) {
  const Result<std::string> made = job.rank() == 0 ? made_by_rank_0(parent) : Result<std::string>(std::string());
  if (Status s = job.agree(made); !s) return s.error();
  std::array<char, 4096> path{};
  if (job.rank() == 0) made->copy(path.data(), path.size() - 1);
  job.library().call.Bcast(path.data(), static_cast<int>(path.size()), job.library().constants.byte, 0, job.world());
  const std::string folder = path.data();
  const bool is_seen = access((folder + "/" + marker_name).c_str(), F_OK) == 0;
  const Status seen =
      is_seen ? Status(Nothing{})
              : wrong_value(fmt::format("all ranks must see the folder {}", parent),
                            fmt::format("rank {} does not", job.rank()), "name a folder that all nodes share");
  if (Status s = job.agree(seen); !s) return s.error();
  return folder;
}

Status remove_work_folder(const mpi_job::MpiJob& job, const std::string& folder) {
  Status removed = Nothing{};
  if (job.rank() == 0) {
    unlink((folder + "/" + marker_name).c_str());
    if (rmdir(folder.c_str()) != 0) removed = refused_by_system(fmt::format("{} cannot be removed", folder), errno);
  }
  return job.agree(removed);
}

} // namespace kumihimo::file_bench
