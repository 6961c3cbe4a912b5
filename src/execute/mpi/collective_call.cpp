#include "execute/mpi/collective_call.hpp"

namespace kumihimo::mpi {

int make(const Functions& mpi, const CollectiveCall& c) {
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

} // namespace kumihimo::mpi
