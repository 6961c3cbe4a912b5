#include "execute/mpi/collective_call.hpp"

namespace kumihimo::execute {

namespace {

int call_irregular(const mpi::Functions& mpi, const CollectiveCall& c) {
  const auto& [sent, sent_at] = c.sent;
  const auto& [received, received_at] = c.received;
  switch (c.kind) {
  case CollectiveKind::gather:
    return mpi.Gatherv(c.send, c.count, c.type, c.receive, received, received_at, c.type, c.root, c.communicator);
  case CollectiveKind::scatter:
    return mpi.Scatterv(c.send, sent, sent_at, c.type, c.receive, c.count, c.type, c.root, c.communicator);
  case CollectiveKind::allgather:
    return mpi.Allgatherv(c.send, c.count, c.type, c.receive, received, received_at, c.type, c.communicator);
  case CollectiveKind::reduce_scatter:
    return mpi.Reduce_scatter(c.send, c.receive, sent, c.type, c.operation, c.communicator);
  case CollectiveKind::neighbor_allgather:
    return mpi.Neighbor_allgatherv(c.send, c.count, c.type, c.receive, received, received_at, c.type, c.communicator);
  case CollectiveKind::neighbor_alltoall:
    return mpi.Neighbor_alltoallv(c.send, sent, sent_at, c.type, c.receive, received, received_at, c.type,
                                  c.communicator);
  default:
    return mpi.Alltoallv(c.send, sent, sent_at, c.type, c.receive, received, received_at, c.type, c.communicator);
  }
}

} // namespace

int call_library(const mpi::Functions& mpi, const CollectiveCall& c) {
  if (c.is_irregular) return call_irregular(mpi, c);
  switch (c.kind) {
  case CollectiveKind::barrier:
    return mpi.Barrier(c.communicator);
  case CollectiveKind::bcast:
    return mpi.Bcast(c.receive, c.count, c.type, c.root, c.communicator);
  case CollectiveKind::reduce:
    return mpi.Reduce(c.send, c.receive, c.count, c.type, c.operation, c.root, c.communicator);
  case CollectiveKind::allreduce:
    return mpi.Allreduce(c.send, c.receive, c.count, c.type, c.operation, c.communicator);
  case CollectiveKind::scan:
    return mpi.Scan(c.send, c.receive, c.count, c.type, c.operation, c.communicator);
  case CollectiveKind::exscan:
    return mpi.Exscan(c.send, c.receive, c.count, c.type, c.operation, c.communicator);
  case CollectiveKind::gather:
    return mpi.Gather(c.send, c.count, c.type, c.receive, c.count, c.type, c.root, c.communicator);
  case CollectiveKind::scatter:
    return mpi.Scatter(c.send, c.count, c.type, c.receive, c.count, c.type, c.root, c.communicator);
  case CollectiveKind::allgather:
    return mpi.Allgather(c.send, c.count, c.type, c.receive, c.count, c.type, c.communicator);
  case CollectiveKind::reduce_scatter:
    return mpi.Reduce_scatter_block(c.send, c.receive, c.count, c.type, c.operation, c.communicator);
  case CollectiveKind::alltoall:
    return mpi.Alltoall(c.send, c.count, c.type, c.receive, c.count, c.type, c.communicator);
  case CollectiveKind::neighbor_allgather:
    return mpi.Neighbor_allgather(c.send, c.count, c.type, c.receive, c.count, c.type, c.communicator);
  case CollectiveKind::neighbor_alltoall:
    return mpi.Neighbor_alltoall(c.send, c.count, c.type, c.receive, c.count, c.type, c.communicator);
  }
  return 0;
}

} // namespace kumihimo::execute
