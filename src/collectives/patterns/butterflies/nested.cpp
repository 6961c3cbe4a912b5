#include "collectives/patterns/butterflies/nested.hpp"

#include <fmt/format.h>

namespace kumihimo {
namespace {

// One lane's share of the data: part `index` of `lanes` of the vector, or of each block.
struct LaneShare {
  std::int64_t ranks, index, lanes;

  // Places [first, first + count) of the vector's share.
  Extent places(std::int64_t first, std::int64_t count) const {
    return parts(index * ranks + first, count, ranks * lanes);
  }
  Extent blocks_of(Layout layout, std::int64_t first, std::int64_t count = 1) const {
    Extent e = blocks(layout, first, count);
    e.parts = lanes;
    e.part = index;
    return e;
  }
};

struct ExchangeHalves {
  std::int64_t mine, other, size; // where they begin
};
ExchangeHalves halves(std::int64_t place, int exchange, int exchanges) {
  const std::int64_t size = std::int64_t{1} << (exchanges - 1 - exchange), mine = place / size * size;
  return {mine, mine ^ size, size};
}

// `named(first, count)` is the chunk of those places.
template <class Named>
void halve(LaneBuilder& lane, const NestedExchange& nest, std::int64_t r, Named named) {
  for (int s = 0; s < nest.exchanges; ++s) {
    const ExchangeHalves h = halves(nest.place(r), s, nest.exchanges);
    const std::int64_t peer = nest.partner(r, s);
    const Arriving side = peer < r ? Arriving::left : Arriving::right;
    lane.round(exchange(peer, named(h.other, h.size), peer, reduce_into(named(h.mine, h.size), side)));
  }
}
template <class Named>
void join(LaneBuilder& lane, const NestedExchange& nest, std::int64_t r, Named named) {
  for (int s = nest.exchanges - 1; s >= 0; --s) {
    const ExchangeHalves h = halves(nest.place(r), s, nest.exchanges);
    const std::int64_t peer = nest.partner(r, s);
    lane.round(exchange(peer, named(h.mine, h.size), peer, into(named(h.other, h.size))));
  }
}

void write_allreduce(LaneBuilder& lane, const NestedExchange& nest, const LaneShare& share, std::int64_t r) {
  halve(lane, nest, r, [&](std::int64_t first, std::int64_t count) { return acc[share.places(first, count)]; });
  join(lane, nest, r, [&](std::int64_t first, std::int64_t count) { return out[share.places(first, count)]; });
}

void write_allgather(LaneBuilder& lane, const NestedExchange& nest, const LaneShare& share, const Collective& c,
                     std::int64_t r) {
  const std::int64_t mine = nest.place(r);
  const auto held = [&](std::int64_t first, std::int64_t count = 1) {
    return out[share.blocks_of(Layout::output_blocks, first, count)];
  };
  const Chunk own = in[share.blocks_of(Layout::input_blocks, r)];
  if (mine != r)
    lane.round(exchange(nest.rank_at(r), own, mine, into(held(mine))));
  else if (!c.aliased(Rank{static_cast<std::int32_t>(r)}))
    lane.step(copy(held(r), own));
  join(lane, nest, r, held);
}

void write_reduce_scatter(LaneBuilder& lane, const NestedExchange& nest, const LaneShare& share, const Array& sums,
                          Chunk result, std::int64_t r) {
  const Array sum = accumulate_in(sums);
  halve(lane, nest, r, [&](std::int64_t first, std::int64_t count) {
    return sum[share.blocks_of(Layout::input_blocks, first, count)];
  });
  const std::int64_t mine = nest.place(r);
  const Chunk held = sums[share.blocks_of(Layout::input_blocks, mine)];
  if (mine != r)
    lane.round(exchange(mine, held, nest.rank_at(r), into(std::move(result))));
  else
    lane.step(copy(std::move(result), held));
}

Program program_of(const Collective& c, const std::vector<NestedExchange>& nests, Segments segments,
                   std::int64_t window, std::int64_t r) {
  ProgramBuilder program(segments);
  const auto lanes = static_cast<std::int64_t>(nests.size());
  Array sums, result;
  // In place the result of irregular blocks lies over others' input, which other lanes may still read.
  const bool scatters = c.kind == CollectiveKind::reduce_scatter,
             aside = scatters && c.in_place && c.counts.irregular();
  if (scatters) {
    sums = program.scratch(Scratch{LaneId{0}, true, Layout::input_blocks, 1, c.ranks, 1, true, 0});
    result = own_sum(program, aside, r, static_cast<std::int32_t>(lanes));
  }
  for (std::int64_t l = 0; l < lanes; ++l) {
    const NestedExchange& nest = nests[static_cast<std::size_t>(l)];
    const LaneShare share{c.ranks, l, lanes};
    LaneBuilder lane(LaneId{static_cast<std::int32_t>(l)}, lanes > 1 ? fmt::format("butterfly {}", l) : "butterfly",
                     window);
    if (c.kind == CollectiveKind::allreduce)
      write_allreduce(lane, nest, share, r);
    else if (scatters)
      write_reduce_scatter(lane, nest, share, sums,
                           result[share.blocks_of(aside ? Layout::input_blocks : Layout::output_blocks, r)], r);
    else
      write_allgather(lane, nest, share, c, r);
    program.add(std::move(lane));
  }
  return program.finish();
}

} // namespace

Result<Schedule> nested_schedule(const Collective& c, std::vector<NestedExchange> nests, const Parameters& p) {
  const auto lanes = static_cast<std::int64_t>(nests.size());
  const bool vector = c.kind == CollectiveKind::allreduce;
  const Segments segments = TRY(choose_segments(c, p, vector ? lanes * c.ranks : lanes, Pipelining::whole_message));
  const std::int64_t window = p.window.value();
  Schedule s(c);
  s.segments = segments;
  s.parameters = fmt::format("lanes={} segments={} window={}", lanes, segments.count, window);
  s.claims.in_place_safe = c.kind != CollectiveKind::reduce_scatter || c.in_place || !c.counts.irregular();
  s.program = [c, nests = std::move(nests), segments, window](Rank r) {
    return program_of(c, nests, segments, window, r.value);
  };
  return s;
}

} // namespace kumihimo
