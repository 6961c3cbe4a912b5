// Calls of which each rank knows the lengths of its own blocks alone (alltoallv, gatherv, ...; ADR 0019): what is run
// is the same on all ranks whatever they are, and each rank binds its plan to its own blocks, wherever they lie.
#pragma once

#include "interpose/buffer_semantics.hpp"
#include "interpose/communicator.hpp"
#include "interpose/packed.hpp"
#include "interpose/session.hpp"

#include <memory>

namespace kumihimo::interpose {

// The question of such a call, without its lengths.
Collective question_of_local_counts(CollectiveKind kind, const Communicator& communicator, const Call& call,
                                    const RankBuffers& view);

// Where the blocks of one call lie, in bytes, and what they are packed in where their types have gaps.
struct OwnData {
  std::shared_ptr<const OwnBlocks> blocks;
  execute::Buffers buffers;
  std::shared_ptr<Packed> packed;
};
// Errors: no memory to pack in; blocks longer than memory. Each is this rank's alone.
Result<OwnData> lay_out(Session& session, const Collective& question, std::int32_t rank, const RankBuffers& view,
                        Form form);

} // namespace kumihimo::interpose
