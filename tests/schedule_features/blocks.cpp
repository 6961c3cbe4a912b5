// Features shown by collectives of blocks: counts, run lists, tables, gaps, messages to oneself.
#include "program/builder.hpp"
#include "schedule_features/features.hpp"

#include <algorithm>

namespace kumihimo::features {
namespace {

constexpr std::int32_t P = 6;

Extent in_block(Expression b) { return blocks(Layout::input_blocks, std::move(b)); }
Extent out_block(Expression b) { return blocks(Layout::output_blocks, std::move(b)); }

Collective blocks_of(CollectiveKind kind, Counts counts, Rank root = Rank{0}) {
  Collective c = make_collective(kind, P, 0, DataType::float64, Operation::sum, root);
  c.counts = std::move(counts);
  return c;
}

Counts uniform(std::int64_t each) { return {Counts::Known::uniform, each, nullptr}; }
Counts listed(Counts::Known known, std::vector<std::int64_t> table) {
  return {known, 0, std::make_shared<const std::vector<std::int64_t>>(std::move(table))};
}
std::vector<std::int64_t> uneven() { return {3, 0, 7, 1, 12, 5}; }

template <class F>
std::function<Program(Rank)> one_lane(Segments segments, std::int64_t window, F body) {
  return [=](Rank rank) {
    ProgramBuilder program(segments);
    LaneBuilder lane(LaneId{0}, "", window);
    body(lane, std::int64_t{rank.value});
    program.add(std::move(lane));
    return program.finish();
  };
}

// Everybody exchanges with everybody, the peer varying with the loop; `gap` idle bytes per step of distance.
std::function<Program(Rank)> pairwise(Segments segments, std::int64_t gap) {
  return one_lane(segments, 2, [gap](LaneBuilder& lane, std::int64_t r) {
    lane.step(copy(out[out_block(r)], in[in_block(r)]));
    lane.loop(P - 1, [&](Variable i) {
      const Expression to = mod(r + 1 + i, P), from = mod(r - 1 - i, P);
      Round round = exchange(to, in[in_block(to)], from, into(out[out_block(from)]));
      round.gap = gap * i;
      return round;
    });
  });
}

// Receives and sends with everybody, each with its own number in flight; then a round that waits for both.
std::function<Program(Rank)> windows_apart(Segments segments) {
  return one_lane(segments, 2, [](LaneBuilder& lane, std::int64_t r) {
    lane.together([&](BodyBuilder& both) {
      both.loop(
          P - 1,
          [&](Variable i) {
            const Expression from = mod(r - 1 - i, P);
            return Round{{receive(from, out[out_block(from)])}, 0};
          },
          2);
      both.loop(P - 1, [&](Variable i) {
        const Expression to = mod(r + 1 + i, P);
        return Round{{send(to, in[in_block(to)])}, 0};
      });
    });
    lane.step(copy(out[out_block(r)], in[in_block(r)]));
  });
}

Counts local_counts() {
  std::vector<std::int64_t> table;
  for (std::int64_t a = 0; a < P; ++a)
    for (std::int64_t b = 0; b < P; ++b) table.push_back((a * 7 + b * 3) % 5);
  return listed(Counts::Known::local, table);
}

Feature allgather_global_counts() {
  return make("allgather_global_counts", blocks_of(CollectiveKind::allgather, listed(Counts::Known::global, uneven())),
              {2}, one_lane({2}, 2, [](LaneBuilder& lane, std::int64_t r) {
                lane.step(copy(out[out_block(r)], in[in_block(r)]));
                lane.loop(P - 1, [&](Variable i) {
                  return exchange((r + 1) % P, out[out_block(mod(r - i, P))], (r + P - 1) % P,
                                  into(out[out_block(mod(r - 1 - i, P))]));
                });
              }));
}

Feature gather_rooted_counts() {
  const std::int64_t root = 2;
  return make("gather_rooted_counts",
              blocks_of(CollectiveKind::gather, listed(Counts::Known::rooted, uneven()), Rank{root}), {2},
              one_lane({2}, 1, [](LaneBuilder& lane, std::int64_t r) {
                if (r != root) return lane.step(send(root, in[in_block(r)]));
                lane.step(copy(out[out_block(r)], in[in_block(r)]));
                lane.loop(
                    P - 1,
                    [&](Variable i) {
                      const Expression from = mod(root + 1 + i, P);
                      return Round{{receive(from, out[out_block(from)])}, 0};
                    },
                    P - 1);
              }));
}

Feature scatter_rooted_counts() {
  const std::int64_t root = 4;
  return make("scatter_rooted_counts",
              blocks_of(CollectiveKind::scatter, listed(Counts::Known::rooted, uneven()), Rank{root}), {1},
              one_lane({1}, 1, [](LaneBuilder& lane, std::int64_t r) {
                if (r != root) return lane.step(receive(root, out[out_block(r)]));
                lane.step(copy(out[out_block(r)], in[in_block(r)]));
                lane.loop(P - 1, [&](Variable i) {
                  const Expression to = mod(root + 1 + i, P);
                  return Round{{send(to, in[in_block(to)])}, 0};
                });
              }));
}

// One that reads input after it has written output.
Feature apart(Feature f) {
  f.schedule.claims.in_place_safe = false;
  return f;
}

Feature reduce_scatter_global_counts() {
  return make("reduce_scatter_global_counts",
              blocks_of(CollectiveKind::reduce_scatter, listed(Counts::Known::global, uneven())), {2},
              one_lane({2}, 2, [](LaneBuilder& lane, std::int64_t r) {
                lane.loop(P - 1, [&](Variable i) {
                  const Expression to = mod(r + 1 + i, P), from = mod(r - 1 - i, P);
                  return exchange(to, in[in_block(to)], from, reduce_into(acc[in_block(r)]));
                });
              }));
}

// Ranks as 2 rows of 3: blocks of a column are gathered along it, and then columns along the rows, each column one
// extent with a stride; backwards for a negative one.
Feature strided_allgather(std::string name, bool backwards) {
  constexpr std::int64_t columns = 3, rows = P / columns;
  const auto column = [backwards](Expression j) {
    Extent e = out_block(backwards ? j + (rows - 1) * columns : j);
    e.runs[0].inner = {backwards ? -columns : columns, rows};
    return e;
  };
  return make(std::move(name), blocks_of(CollectiveKind::allgather, uniform(5)), {2},
              one_lane({2}, 1, [column](LaneBuilder& lane, std::int64_t r) {
                const std::int64_t k = r / columns, j = r % columns, other = (1 - k) * columns + j;
                lane.step(copy(out[out_block(r)], in[in_block(r)]));
                lane.round(exchange(other, out[out_block(r)], other, into(out[out_block(other)])));
                lane.loop(columns - 1, [&](Variable i) {
                  const Expression to = mod(j + 1 + i, columns), from = mod(j - 1 - i, columns);
                  return exchange(k * columns + to, out[column(j)], k * columns + from, into(out[column(from)]));
                });
              }));
}

// Blocks [first, first + n) round the end of the array: one extent of two run lists.
Extent cyclic(std::int64_t first, std::int64_t n) {
  const std::int64_t straight = std::min<std::int64_t>(n, P - first);
  Extent e = blocks(Layout::output_blocks, first, straight);
  if (n > straight) e.runs.push_back({0, n - straight, {}, {}});
  return e;
}

Feature cyclic_allgather() {
  return make("cyclic_allgather", blocks_of(CollectiveKind::allgather, listed(Counts::Known::global, uneven())), {2},
              one_lane({2}, 1, [](LaneBuilder& lane, std::int64_t r) {
                lane.step(copy(out[out_block(r)], in[in_block(r)]));
                for (std::int64_t held = 1; held < P; held *= 2) {
                  const std::int64_t n = std::min<std::int64_t>(held, P - held), from = (r + held) % P;
                  lane.round(exchange(floor_mod(r - held, P), out[cyclic(r, n)], from, into(out[cyclic(from, n)])));
                }
              }));
}

// A ring in an order that a table gives.
Feature table_ring() {
  const auto order = std::make_shared<const Table>(Table{4, 0, 5, 2, 1, 3});
  return make("table_ring", blocks_of(CollectiveKind::allgather, uniform(3)), {1},
              one_lane({1}, 1, [order](LaneBuilder& lane, std::int64_t r) {
                const std::int64_t at = std::find(order->begin(), order->end(), r) - order->begin();
                const auto block = [&](Expression position) {
                  return out_block(Expression::look_up(order, mod(std::move(position), P)));
                };
                lane.step(copy(out[out_block(r)], in[in_block(r)]));
                lane.loop(P - 1, [&](Variable i) {
                  return exchange((*order)[(at + 1) % P], out[block(at - i)], (*order)[(at + P - 1) % P],
                                  into(out[block(at - 1 - i)]));
                });
              }));
}

// The root sends its own block to itself.
Feature message_to_oneself() {
  return make("message_to_oneself", blocks_of(CollectiveKind::gather, uniform(4)), {2},
              one_lane({2}, 1, [](LaneBuilder& lane, std::int64_t r) {
                if (r > 0) return lane.step(send(0, in[in_block(r)]));
                lane.round({send(0, in[in_block(0)]), receive(0, out[out_block(0)])});
                lane.loop(P - 1, [&](Variable i) { return Round{{receive(i + 1, out[out_block(i + 1)])}, 0}; });
              }));
}

// Rank 0 collects what all ranks have for all, by source, turns it round, and hands it out.
Feature pairs_of_ranks() {
  BlockLayout by_source, by_destination;
  by_source.name = "pairs_by_source", by_destination.name = "pairs_by_destination";
  by_source.unit = by_destination.unit = "pair";
  by_source.blocks = by_destination.blocks = P * P;
  by_source.each = by_destination.each = 3;
  const auto program_of = [](Rank rank) {
    ProgramBuilder program(Segments{2});
    LaneBuilder lane(LaneId{0}, "", 1);
    const Chunk all_in = in[blocks(Layout::input_blocks, 0, P)], all_out = out[blocks(Layout::output_blocks, 0, P)];
    if (rank.value > 0) {
      lane.step(send(0, all_in));
      lane.step(receive(0, all_out));
    } else {
      constexpr Layout sources = declared_layout(0), destinations = declared_layout(1);
      const Array rows = program.named_blocks(LaneId{0}, sources, 0, P * P),
                  columns = program.named_blocks(LaneId{0}, destinations, 0, P * P);
      lane.step(copy(rows[blocks(sources, 0, P)], all_in));
      lane.loop(P - 1, [&](Variable i) { return Round{{receive(i + 1, rows[blocks(sources, (i + 1) * P, P)])}, 0}; });
      Extent turned = blocks(destinations, 0, 1);
      turned.runs[0].inner = {P, P}, turned.runs[0].outer = {1, P};
      lane.step(copy(columns[turned], rows[blocks(sources, 0, P * P)]));
      lane.step(copy(all_out, columns[blocks(destinations, 0, P)]));
      lane.loop(P - 1, [&](Variable i) {
        return Round{{send(i + 1, columns[blocks(destinations, (i + 1) * P, P)])}, 0};
      });
    }
    program.add(std::move(lane));
    return program.finish();
  };
  Feature f = make("pairs_of_ranks", blocks_of(CollectiveKind::alltoall, uniform(3)), {2}, program_of);
  f.schedule.data = data_of(f.schedule.collective(), {by_source, by_destination});
  return f;
}

} // namespace

std::vector<Feature> of_blocks() {
  return {
      apart(make("alltoall_local_counts", blocks_of(CollectiveKind::alltoall, local_counts()), {2}, pairwise({2}, 0))),
      apart(make("gap", blocks_of(CollectiveKind::alltoall, uniform(4)), {1}, pairwise({1}, 64))),
      apart(make("loops_together", blocks_of(CollectiveKind::alltoall, local_counts()), {2}, windows_apart({2}))),
      allgather_global_counts(),
      gather_rooted_counts(),
      scatter_rooted_counts(),
      apart(reduce_scatter_global_counts()),
      strided_allgather("strided_runs", false),
      strided_allgather("negative_stride", true),
      cyclic_allgather(),
      table_ring(),
      pairs_of_ranks(),
      apart(message_to_oneself())};
}

} // namespace kumihimo::features
