// Ranks that die while the others go on: user-level failure mitigation (ULFM), an extension of MPI that Open MPI has
// from 5 on. Its functions are looked up at run time, and used once tolerate_losses() was called. From then on an MPI
// call that needs a dead rank returns an error, and so does each call on a communicator that another rank has revoked.
//
// All of this is of the process, as MPI is. One thread calls it.
#pragma once

#include "mpi/library.hpp"

namespace kumihimo::mpi {

// Thrown by collective calls of an MPI job (mpi_job/job.hpp) where a rank has died. Whoever catches it calls
// revoke_all(), so that no other rank waits for this one.
struct RankLost {};

// Communicators that are made with `library` from now on can be revoked; errors are returned. Error:
// not applicable, the library lacks ULFM, or the launcher has not switched it on.
Status tolerate_losses(Library& library);

// Whether an error code says that a rank is lost. False without tolerate_losses().
bool is_loss(int code);
// Which communicator look_for_losses() looks at, with no loss noticed yet. 0: none.
void watch(Handle communicator);
// For whoever waits without MPI: an error code if a rank of the watched communicator has died or it was revoked, 0 if
// not. Cheap.
int look_for_losses();
// Since watch(). Then nothing collective may be done with what was made before.
bool has_noticed_loss();

// Ends all calls of all ranks on all communicators made since tolerate_losses() and not freed.
void revoke_all();
// The bits that are set on all ranks that are alive. Collective over them, works on a revoked communicator, and all get
// the same answer. Sleeps while it waits.
int agree_of_living(Handle communicator, int mine);
// The ranks that are alive, in their order. Collective over them.
Result<Handle> living_ranks_of(Handle communicator);

} // namespace kumihimo::mpi
