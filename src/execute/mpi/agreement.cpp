#include "execute/mpi/agreement.hpp"

#include "transport/message.hpp"

namespace kumihimo::execute {

Status agree(const mpi::Library& library, mpi::Handle communicator, const Status& mine) {
  const std::int32_t failures = !mine.ok();
  std::int32_t any = failures;
  const int code = library.call.Allreduce(&failures, &any, 1, library.datatype(DataType::int32),
                                          library.operation(Operation::max), communicator);
  if (!mine) return mine;
  if (Status status = library.check(code, "agreement on the transport"); !status) return status;
  if (any) return transport::failed_elsewhere();
  return Nothing{};
}

} // namespace kumihimo::execute
