// Memory that the processes of a node map: what a program allocates here, and a board with a counter for each flag, to
// which the others add. It is in files without a name (memfd_create(2)), which others open through /proc and which end
// with the process. Where the system refuses that, nothing is found, and the provider moves the data.
#pragma once

#include "base/result.hpp"
#include "fabric/wire.hpp"
#include "shared_memory/peer_process.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>

namespace kumihimo::fabric {

class NodeMemory {
 public:
  static constexpr std::int32_t flags = FlagData::most_chunks;

  // What a process tells the others once.
  struct Invitation {
    shared_memory::PeerProcess process;
    std::int64_t file = -1; // of its board; -1: none
    std::uint64_t word = 0; // at the front of the board, random: in another pid namespace the number is another's
  };

  NodeMemory();
  ~NodeMemory();
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;

  Invitation invitation() const;
  void meet(std::int32_t rank, const Invitation& other); // kept if it is of this node

  // Zeros, at a new page. Error: no room.
  Result<std::byte*> allocate(std::int64_t bytes);
  // From now on others find it by this name, which is not 0. Beyond 1,024 of them they do not.
  void publish(std::byte* data, std::uint64_t name);
  bool owns(const std::byte* data) const { return own_.contains(data); }
  void free(const std::byte* data);
  // How often others of the node have counted this flag. What they stored before is seen.
  std::int64_t counted(std::int32_t flag) const;

  // Of another rank: the memory of that name, as it is mapped here; null: it is not.
  std::byte* find(std::int32_t rank, std::uint64_t name);
  // Until it is let go, what find() gave stays mapped, though its owner frees it.
  void hold(std::int32_t rank, std::uint64_t name) { ++neighbours_.at(rank).mapped.at(name).holds; }
  void let_go(std::int32_t rank, std::uint64_t name) { --neighbours_.at(rank).mapped.at(name).holds; }
  const shared_memory::PeerProcess& process(std::int32_t rank) const { // find() has succeeded
    return neighbours_.at(rank).invitation.process;
  }
  void count(std::int32_t rank, std::int32_t flag); // behind this thread's stores; find() has succeeded

 private:
  struct Board;
  struct Row;
  struct Own {
    std::int64_t bytes = 0;
    int file = -1;
    Row* row = nullptr; // where it is published
  };
  struct Mapped {
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    Row* row = nullptr;
    std::uint64_t turn = 0;
    std::int32_t holds = 0;
  };
  struct Neighbour {
    Invitation invitation;
    bool is_tried = false;
    Board* board = nullptr;
    std::unordered_map<std::uint64_t, Mapped> mapped; // by name; null: it cannot be mapped
  };

  static Board* map_board(int file);
  static bool stands(const Mapped& mapped, std::uint64_t name);
  static void unmap_freed(Neighbour& neighbour);
  Board* board_of(Neighbour& neighbour);
  Mapped map_of(Neighbour& neighbour, std::uint64_t name);

  int file_ = -1;
  Board* board_ = nullptr; // null: the system gives none
  std::map<const std::byte*, Own> own_;
  std::unordered_map<std::int32_t, Neighbour> neighbours_;
};

} // namespace kumihimo::fabric
