// What became of the calls: by collective, by the power of two of their bytes, and by who ran them. Counted by every
// thread, added up over the ranks at the end.
#pragma once

#include "interpose/taken_over.hpp"
#include "mpi_hooks/call.hpp"
#include "schedule/collective.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace kumihimo::interpose {

// Why a call went to the MPI library unchanged.
enum class Reason : std::uint8_t {
  not_chosen,    // wisdom says so, or says nothing
  empty,         // no data, or one rank alone
  other_type,    // a derived type, or a predefined one that is not ours
  other_op,      // the user's operation, or one that we do not do on this type
  between,       // an intercommunicator
  disagreement,  // the ranks do not agree on wisdom, settings or version
  no_plan,       // the algorithm does not fit, or there was no memory for it
  too_many,      // more different calls on one communicator than are kept
  not_connected, // a non-blocking call, before any blocking one has set up what it needs
  far,           // a non-blocking call, where not all ranks share memory
  too_long,      // a non-blocking exact sum, for one piece
  crowded_out,   // a communicator beyond those that are set up at once
  unseen,        // a non-blocking call, where what completes it may not be caught
  refused,       // arguments that MPI does not allow: to be told of by the library
  lost           // a process of the program has not our object
};
inline constexpr std::size_t reasons = 15;
std::string_view sentence_of(Reason reason);

// A non-blocking call is told apart from its blocking twin.
enum class Form : std::uint8_t { blocking, nonblocking };
inline constexpr std::size_t counted_calls = 2 * taken_over.size();
inline std::size_t counted_as(CollectiveKind kind, Form form) {
  return index_of(kind) + (form == Form::nonblocking ? taken_over.size() : 0);
}

inline constexpr std::size_t size_classes = 64; // class c: 2^(c-1) <= bytes < 2^c; 0: none
std::size_t size_class(std::int64_t bytes);

class CallCounters {
 public:
  // `variants`: how many algorithms there are of each collective at most.
  explicit CallCounters(std::size_t kinds, std::size_t variants);

  // Each answers where it counted.
  mpi_hooks::Counter& ran(std::size_t kind, std::int64_t bytes, std::size_t variant) {
    return add(((kind * size_classes) + size_class(bytes)) * (reasons + variants_) + reasons + variant);
  }
  mpi_hooks::Counter& forwarded(std::size_t kind, std::int64_t bytes, Reason reason) {
    return add((kind * size_classes + size_class(bytes)) * (reasons + variants_) + static_cast<std::size_t>(reason));
  }

  // A collective that is not caught, blocking or not.
  void other(mpi_hooks::Name name) { add(first_other_ + static_cast<std::size_t>(name)); }

  std::vector<std::int64_t> counts() const;
  // How to read what the ranks' counts add up to.
  std::int64_t ran_in(std::span<const std::int64_t> counts, std::size_t kind, std::size_t size,
                      std::size_t variant) const {
    return counts[(kind * size_classes + size) * (reasons + variants_) + reasons + variant];
  }
  std::int64_t handed_on_in(std::span<const std::int64_t> counts, std::size_t kind, std::size_t size) const;
  std::int64_t for_reason(std::span<const std::int64_t> counts, std::size_t kind, Reason reason) const;
  std::int64_t others_in(std::span<const std::int64_t> counts, mpi_hooks::Name name) const {
    return counts[first_other_ + static_cast<std::size_t>(name)];
  }

 private:
  mpi_hooks::Counter& add(std::size_t at) {
    counters_[at].count();
    return counters_[at];
  }
  std::size_t variants_, first_other_;
  struct Free {
    void operator()(mpi_hooks::Counter* counters) const { std::free(counters); }
  };
  std::size_t size_;
  std::unique_ptr<mpi_hooks::Counter[], Free>
      counters_; // pages of the system's, taken when something in them is counted
};

} // namespace kumihimo::interpose
