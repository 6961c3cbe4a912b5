// Calls in which each rank knows the lengths of its own blocks only (alltoallv, gatherv, ...; ADR 0019). All ranks run
// the same plan for any lengths, and each rank binds it to its own blocks.
#pragma once

#include "interpose/buffer_semantics.hpp"
#include "interpose/communicator.hpp"
#include "interpose/interposer.hpp"
#include "interpose/packed.hpp"

#include <memory>

namespace kumihimo::interpose {

// The collective of such a call, without its lengths.
Collective collective_of_local_counts(CollectiveKind kind, const Communicator& communicator,
                                      const BufferArguments& call, const RankBuffers& view);

// The blocks of one call, in bytes, and the memory that they are packed in if their types have gaps.
struct OwnData {
  std::shared_ptr<const OwnBlocks> blocks;
  execute::Buffers buffers;
  std::shared_ptr<Packed> packed;
};
// Errors, of this rank only: no memory to pack in; blocks longer than memory.
Result<OwnData> lay_out(Interposer& interposer, const Collective& collective, std::int32_t rank,
                        const RankBuffers& view, CallForm form);

} // namespace kumihimo::interpose
