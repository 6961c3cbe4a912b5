#include "application/library_sums.hpp"

namespace kumihimo::application {

Status LibrarySums::take_from_rank_0(std::span<double> values) const {
  return library_.check(library_.call.Bcast(values.data(), static_cast<int>(values.size()),
                                            library_.datatype(DataType::float64), 0, communicator_),
                        "MPI_Bcast");
}

Status LibrarySums::sum(std::span<double> values) {
  from_.assign(values.begin(), values.end());
  if (Status s = library_.check(library_.call.Allreduce(from_.data(), values.data(), static_cast<int>(values.size()),
                                                        library_.datatype(DataType::float64),
                                                        library_.operation(Operation::sum), communicator_),
                                "MPI_Allreduce");
      !s)
    return s;
  return take_from_rank_0(values);
}

Status LibrarySums::start(std::span<double> values) {
  from_.assign(values.begin(), values.end());
  under_way_ = values;
  return library_.check(library_.call.Iallreduce(from_.data(), values.data(), static_cast<int>(values.size()),
                                                 library_.datatype(DataType::float64),
                                                 library_.operation(Operation::sum), communicator_, &request_),
                        "MPI_Iallreduce");
}

Status LibrarySums::wait() {
  if (Status s = library_.check(library_.call.Wait(&request_, library_.constants.status_ignore), "MPI_Wait"); !s)
    return s;
  return take_from_rank_0(under_way_);
}

} // namespace kumihimo::application
