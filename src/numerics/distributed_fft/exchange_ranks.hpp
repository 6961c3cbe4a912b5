// The ranks of an exchange, numbered among themselves: all, or those of a row or a column of the grid of ranks. Rows
// exchange at the same time, and all ranks agree on what they make.
#pragma once

#include "application/runtime.hpp"
#include "application/sub_communicator.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo::distributed_fft {

class ExchangeRanks {
 public:
  ExchangeRanks(application::Runtime& runtime) : runtime_(runtime) {} // all of them; implicit, as it is the usual case
  ExchangeRanks(application::Runtime& runtime, application::SubCommunicator& some) : runtime_(runtime), some_(&some) {}

  std::int32_t rank() const { return some_ ? some_->rank() : runtime_.rank(); }
  std::int32_t ranks() const { return some_ ? some_->ranks() : runtime_.ranks(); }
  RankSpace space() const { return some_ ? some_->space() : runtime_.processes().space(); }
  // Collective over all ranks, of rows and columns too. Errors: those of ProgramRun::make().
  Result<std::unique_ptr<application::ProgramRun>> run_of(const Schedule& schedule) {
    if (!some_) return runtime_.run_of(schedule);
    Result<std::unique_ptr<application::ProgramRun>> made = some_->run_of(schedule);
    if (Status s = runtime_.agree_on(made); !s) return s.error();
    return made;
  }
  // By the MPI library, between boxes of arrays. Collective over all ranks.
  Result<std::unique_ptr<application::ArrayExchange>> library_arrays(const std::vector<application::ArrayBox>& to,
                                                                     const std::vector<application::ArrayBox>& from) {
    Result<std::unique_ptr<application::ArrayExchange>> made =
        some_ ? some_->library_arrays(to, from) : runtime_.processes().library_arrays(to, from);
    if (Status s = runtime_.agree_on(made); !s) return s.error();
    return made;
  }
  application::Runtime& all() { return runtime_; }

 private:
  application::Runtime& runtime_;
  application::SubCommunicator* some_ = nullptr; // null: all
};

} // namespace kumihimo::distributed_fft
