#include "collectives/patterns/levels/stages.hpp"

namespace kumihimo {

std::vector<StageRow> stages_of(CollectiveKind kind) {
  using enum CollectiveKind;
  switch (kind) {
  case bcast:
    return {{true, bcast, Meaning::same, Where::output, Where::output},
            {false, bcast, Meaning::same, Where::output, Where::output}};
  case reduce:
    return {{false, reduce, Meaning::same, Where::input, Where::held},
            {true, reduce, Meaning::same, Where::held, Where::held}};
  case allreduce:
    return {{false, reduce, Meaning::same, Where::input, Where::output},
            {true, allreduce, Meaning::same, Where::output, Where::output},
            {false, bcast, Meaning::same, Where::output, Where::output}};
  case allgather:
    return {{false, gather, Meaning::groups_of_blocks, Where::input, Where::output},
            {true, allgather, Meaning::groups_of_blocks, Where::output, Where::output},
            {false, bcast, Meaning::vector_of_blocks, Where::output, Where::output}};
  case reduce_scatter:
    return {{false, reduce, Meaning::vector_of_blocks, Where::input, Where::held},
            {true, reduce_scatter, Meaning::groups_of_blocks, Where::held, Where::own},
            {false, scatter, Meaning::groups_of_blocks, Where::own, Where::output}};
  case gather:
    return {{false, gather, Meaning::groups_of_blocks, Where::input, Where::held},
            {true, gather, Meaning::groups_of_blocks, Where::held, Where::output}};
  case scatter:
    return {{true, scatter, Meaning::groups_of_blocks, Where::input, Where::own},
            {false, scatter, Meaning::groups_of_blocks, Where::own, Where::output}};
  case alltoall:
    return {{false, gather, Meaning::groups_of_blocks, Where::input, Where::held},
            {true, alltoall, Meaning::blocks_of_pairs, Where::held, Where::own},
            {false, scatter, Meaning::groups_of_blocks, Where::own, Where::output}};
  default:
    return {{false, reduce, Meaning::signals, Where::input, Where::input},
            {true, barrier, Meaning::signals, Where::input, Where::input},
            {false, bcast, Meaning::signals, Where::input, Where::input}};
  }
}

} // namespace kumihimo
