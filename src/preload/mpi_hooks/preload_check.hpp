// Checks whether all processes of the program loaded the preload library. A wrapper may clear LD_PRELOAD for one rank.
// Its calls would then match the agreements of the others on the program's communicators: MPI_ERR_TRUNCATE, or wrong
// data. So the check precedes all agreements and sends no messages: it uses a list in the memory of the node.
//
// Each process marks itself when it enters MPI_Init, which no rank leaves before all have entered it, because it
// exchanges addresses. (After MPI_Session_init it may not; then the check waits for the others.) The first process that
// looks later decides for all processes of the node, for good: the list is complete or not. So all that have the
// preload library do the same, and a process that is late or cannot open the list counts as missing.
//
// The launcher's name of the job names the list. If it gives none, or if the job has several nodes, there is no list,
// and the preload library is taken to be everywhere.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kumihimo::mpi_hooks {

// A process of a job, among those of its node.
struct PlaceOnNode {
  std::string job; // unique among all jobs that ever ran here
  std::int32_t ranks = 0, rank = 0;
};
// From the environment that Open MPI's launcher or Hydra sets. Nothing with other launchers; for a process that Hydra's
// processes started, which may have their name; and in a job on several nodes, which might decide differently and then
// wait for each other.
std::optional<PlaceOnNode> place_on_node();

class PreloadCheck {
 public:
  // Marks this process.
  explicit PreloadCheck(const PlaceOnNode& place);
  ~PreloadCheck();
  PreloadCheck(const PreloadCheck&) = delete;
  PreloadCheck& operator=(const PreloadCheck&) = delete;

  // Whether all have marked themselves; nothing if it is not known yet.
  std::optional<bool> look();
  // Decides after that time: processes without a mark are missing.
  bool decide(std::chrono::milliseconds patience);
  // The number of missing processes if this process decided, else 0: one process reports it.
  std::int32_t missed() const { return missed_; }
  const std::string& path() const { return path_; }

  // Called once, when this process enters MPI_Init and when it leaves it. `object`: each preload library has its list.
  static void enter(std::string_view object);
  static void leave();
  // Called before the process ends within MPI_Init: nobody decides any more, and the list must not stay.
  static void abandon();
  // Called before any agreement; enters if enter() was not called. `missed`: as above, at the first call.
  static bool everyone_is_here(std::string_view object, std::int32_t& missed);
  // Whether there is a list; else everyone_is_here() is always true. Enters if enter() was not called.
  static bool has_list(std::string_view object);

 private:
  enum class Verdict : std::uint32_t { none, complete, incomplete };
  struct List {
    std::atomic<Verdict> verdict;
    std::atomic<std::uint8_t> here[1]; // one for each rank
  };
  std::size_t bytes() const { return sizeof(List) + static_cast<std::size_t>(ranks_); }
  std::int32_t absent() const;
  bool record_verdict(Verdict found);

  std::string path_;
  std::int32_t ranks_, rank_;
  List* list_ = nullptr; // null: it could not be opened
  std::int32_t missed_ = 0;
};

} // namespace kumihimo::mpi_hooks
