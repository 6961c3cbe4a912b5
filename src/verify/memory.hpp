// The memory of one rank: symbolic values by run of elements, and who used each run last. Finds reads of what nobody
// wrote, and two steps that touch the same bytes, one writing, without an order between them.
#pragma once

#include "program/binding.hpp"
#include "verify/values.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace kumihimo::verify {

// A step that used memory: enough to ask whether it was over, and to name it.
struct User {
  std::int32_t lane = -1; // index in the program
  std::int64_t segment = 0;
  std::int32_t node = 0, round = 0, step = 0;
  bool operator==(const User&) const = default;
};

using Sequence = std::vector<ValueId>; // of consecutive values

class SymbolicMemory {
 public:
  // Input and output are one memory: input element i is output element i + shift.
  void alias(std::int64_t shift);

  // Initial contents.
  void put(std::int32_t buffer, std::int64_t first, ValueId value, ValueStore& store);

  // Whether `a` is surely over when `b` starts.
  using Ordered = std::function<bool(const User& a, const User& b)>;

  struct Conflict {
    User other;
    bool wrote = false;
    std::int64_t element = 0;
  };
  // Registers the use; the first use that it may collide with, if any.
  std::optional<Conflict> use(std::int32_t buffer, ElementRun run, bool writes, const User& user,
                              const Ordered& ordered, ValueStore& store);
  // The first element of the input's run that was written as output, by whom; in place only.
  std::optional<Conflict> overwritten_input(ElementRun run) const;

  // Who wrote an element last, if a step did.
  std::optional<User> writer(std::int32_t buffer, std::int64_t element) const;

  // Where an element lies, input and output being one memory or not.
  struct Key {
    std::int32_t buffer;
    std::int64_t first;
    auto operator<=>(const Key&) const = default;
  };
  Key address(std::int32_t buffer, std::int64_t first) const;

  // Appends the values of a run; the first element that nobody wrote, if any.
  std::optional<std::int64_t> read(std::int32_t buffer, ElementRun run, Sequence& out, ValueStore& store) const;
  // Takes values from `in`, starting at value `at` (advanced); a value that does not fit is split.
  void write(std::int32_t buffer, ElementRun run, Sequence& in, std::size_t& at, ValueStore& store);

 private:
  struct Piece {
    std::int64_t count = 0;
    ValueId value = nothing;
    User writer;
    std::vector<User> readers; // since the last write
  };
  using Pieces = std::map<Key, Piece>;

  void cut(Key at, ValueStore& store);                          // no piece crosses `at`
  void cover(Key first, std::int64_t count, ValueStore& store); // pieces exist, cut at both ends

  bool aliased_ = false;
  std::int64_t input_shift_ = 0, output_shift_ = 0;
  Pieces pieces_;
};

// Splits two sequences of the same total length into values of equal counts.
void align(Sequence& a, Sequence& b, ValueStore& store);

} // namespace kumihimo::verify
