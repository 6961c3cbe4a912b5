// The state of one rank of a program, in files from which it can go on after any end: named arrays of bytes, written
// durably and read back verified. The interface of checkpoints; it knows neither MPI nor what the bytes mean.
//
// A rank has two files, STEM-RANK.0 and STEM-RANK.1. A generation goes into the file that does not hold the newest
// whole one, so that the generation before it stays. That matters for several ranks: a kill may find generation 8 on
// some ranks and 7 on the others, and all ranks can then go on from 7. So no rank may begin to save generation g + 1
// before all ranks have saved g (a barrier between two saves).
//
// A save makes STEM-RANK.new, writes it, waits until it is on the disk (fsync), renames it over the older of the two
// files, and waits until the new name is on the disk (fsync of the folder). At every moment before the rename both
// older generations are as they were. What a kill leaves of STEM-RANK.new is overwritten by the next save.
//
// A file, all numbers little-endian and of 64 bits:
//   "kumihimo-state-1"          16 bytes
//   generation, arrays
//   of each array: length of its name, name (padded to 8 bytes by zeros), bytes
//   of each array: its bytes
//   bytes before this trailer, XXH64 of them, "kumihimo-state-z"
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kumihimo::saved_state {

// An array to save. The bytes are the caller's.
struct SavedArray {
  std::string name;
  std::span<const std::byte> bytes;
};

// Where an array is to be put; the length must be the saved one.
struct ArrayPlace {
  std::string name;
  std::span<std::byte> bytes;
};

struct ArrayShape {
  std::string name;
  std::int64_t bytes = 0;
  bool operator==(const ArrayShape&) const = default;
};

// What one file holds.
struct Generation {
  std::int64_t number = 0;
  std::vector<ArrayShape> arrays;
};

class StateStore {
 public:
  // `folder`: must exist. `stem`: the beginning of the names of the files. Error: no such folder, or no permission.
  static Result<StateStore> open(const std::string& folder, const std::string& stem, std::int32_t rank);
  ~StateStore();
  StateStore(StateStore&& other) noexcept;
  StateStore& operator=(StateStore&& other) = delete;

  // The generations whose file is whole, from old to new; reads all their bytes. A file that is missing, cut or changed
  // is none. None: nothing was saved.
  std::vector<Generation> whole_generations() const;

  // Saves all arrays as this generation, which must be newer than those that are there. Returns when they are on the
  // disk. After an error the generations are those of before. A file that the system refuses to read is not
  // overwritten, as it may be whole: an error.
  Status save(std::int64_t generation, std::span<const SavedArray> arrays);

  // The program goes on from this generation: the next save spares the file that has it whole, and takes the place of
  // the other one, whatever generation that has. A rank that has it in neither file spares none.
  void go_on_from(std::int64_t generation);

  // Reads the arrays of a generation into their places, and verifies them. Places may be in any order and may leave
  // arrays out. Error: no such generation, an array is missing or has another length, or the file is damaged: then the
  // places hold anything.
  Status load(std::int64_t generation, std::span<const ArrayPlace> places) const;

  // Removes the files of this rank. Error: the system refuses.
  Status remove();

 private:
  StateStore(std::string folder, std::string stem) : folder_(std::move(folder)), stem_(std::move(stem)) {}
  std::string path(const char* suffix) const { return folder_ + "/" + stem_ + suffix; }
  Status find_newest();
  Result<int> slot_to_write(std::int64_t generation);

  std::string folder_, stem_; // with the rank
  int folder_file_ = -1;
  int newest_slot_ = -1; // -1: not known
  std::int64_t newest_ = -1;
};

} // namespace kumihimo::saved_state
