// Whether all processes of the program have our object. A wrapper may clear LD_PRELOAD for one rank, and that rank's
// calls would meet what the others agree on over the program's communicators: MPI_ERR_TRUNCATE, or wrong data. So that
// is known before anything is agreed on, by nothing that MPI matches: a list in the memory of the node.
//
// Each process marks itself as it enters MPI_Init, which lets no rank go before all have entered it, since it exchanges
// addresses (or has done so in MPI_Session_init: then others are waited for). Who looks first afterwards decides for
// all on the node: the list is complete, or it is not, for good, and whoever comes later finds that. So all that have
// the object go the same way, and a process that is late, or cannot open the list, is one of those that are missed.
//
// What the list is named by is what launchers say of the job. Where they say too little there is none, and the object
// is taken to be everywhere; so it is in jobs on several nodes.
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
  std::string job; // nothing else that runs here, or ever ran, has this name
  std::int32_t ranks = 0, rank = 0;
};
// By the environment that Open MPI's launcher and Hydra make; nothing by another one, for a process that Hydra's
// processes have started, which may have the name of theirs, and of a job on several nodes: each would decide for
// itself, and where they differ, one waits for the other.
std::optional<PlaceOnNode> place_on_node();

class PreloadCheck {
 public:
  // Marks this process.
  explicit PreloadCheck(const PlaceOnNode& place);
  ~PreloadCheck();
  PreloadCheck(const PreloadCheck&) = delete;
  PreloadCheck& operator=(const PreloadCheck&) = delete;

  // Whether all are here, or nothing where that is not known yet.
  std::optional<bool> look();
  // Decides: who has no mark after so long is missed.
  bool decide(std::chrono::milliseconds patience);
  // Those missed, where this process has decided so; else 0: one tells of it.
  std::int32_t missed() const { return missed_; }
  const std::string& path() const { return path_; }

  // Of this process, once: as it enters MPI_Init, and as it leaves it. `object`: which of ours, since each has a list.
  static void enter(std::string_view object);
  static void leave();
  // Before the process ends within MPI_Init: nobody decides any more, and the list must not stay.
  static void abandon();
  // Before anything is agreed on; entered if it was not yet. `missed`: as above, at the first call.
  static bool everyone_is_here(std::string_view object, std::int32_t& missed);
  // Whether there is a list: else everyone_is_here() takes it for granted. Entered if it was not yet.
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
