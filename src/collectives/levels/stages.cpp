#include "collectives/levels/stages.hpp"

namespace kumihimo {

std::vector<StageRow> stages_of(CollectiveKind kind) {
  using enum CollectiveKind;
  switch (kind) {
  case bcast:
    return {{true, bcast, Meaning::same, Where::out, Where::out},
            {false, bcast, Meaning::same, Where::out, Where::out}};
  case reduce:
    return {{false, reduce, Meaning::same, Where::in, Where::held},
            {true, reduce, Meaning::same, Where::held, Where::held}};
  case allreduce:
    return {{false, reduce, Meaning::same, Where::in, Where::out},
            {true, allreduce, Meaning::same, Where::out, Where::out},
            {false, bcast, Meaning::same, Where::out, Where::out}};
  case allgather:
    return {{false, gather, Meaning::groups_of_blocks, Where::in, Where::out},
            {true, allgather, Meaning::groups_of_blocks, Where::out, Where::out},
            {false, bcast, Meaning::vector_of_blocks, Where::out, Where::out}};
  case reduce_scatter:
    return {{false, reduce, Meaning::vector_of_blocks, Where::in, Where::held},
            {true, reduce_scatter, Meaning::groups_of_blocks, Where::held, Where::own},
            {false, scatter, Meaning::groups_of_blocks, Where::own, Where::out}};
  case gather:
    return {{false, gather, Meaning::groups_of_blocks, Where::in, Where::held},
            {true, gather, Meaning::groups_of_blocks, Where::held, Where::out}};
  case scatter:
    return {{true, scatter, Meaning::groups_of_blocks, Where::in, Where::own},
            {false, scatter, Meaning::groups_of_blocks, Where::own, Where::out}};
  case alltoall:
    return {{false, gather, Meaning::groups_of_blocks, Where::in, Where::held},
            {true, alltoall, Meaning::blocks_of_pairs, Where::held, Where::own},
            {false, scatter, Meaning::groups_of_blocks, Where::own, Where::out}};
  default:
    return {{false, reduce, Meaning::signals, Where::in, Where::in},
            {true, barrier, Meaning::signals, Where::in, Where::in},
            {false, bcast, Meaning::signals, Where::in, Where::in}};
  }
}

} // namespace kumihimo
