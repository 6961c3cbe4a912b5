// hierarchical: any algorithm between nodes, composed with any within them.
//
// Idea: one rank of each node leads it. Each collective is a row of stages (below) that run one after the other, some
//   within all nodes at once, some among the leaders; each is a schedule of the registry, embedded as it is. Segments
//   are common to all stages, and a stage's segment waits for the same segment of the stages before alone: so while the
//   leaders exchange one segment the nodes reduce the next and spread the last.
// Wins: nodes of many ranks: only leaders load the network, and the algorithm between them may be that of the network.
// Cost: that of its parts; with segments the slowest stage's, and one segment of each other.
// Special cases: nodes of unequal size, and leaders that are the only ranks of their node. Leaders are the lowest ranks
//   of their nodes, the root that of its own. Blocks (allgather, ...) need nodes that hold consecutive ranks. A rank of
//   a barrier is told by the messages of a reduce and a broadcast, without their data. In an alltoall leaders hold what
//   all ranks of their node send and get, and exchange it by pairs of nodes (the multicore form of CASTEP); nodes have
//   one size there, and blocks too, as leaders do not know the counts of others.
// Reference: Karonis et al., IPDPS 2000 (levels); Träff, Rougier, EuroMPI/ASIA 2014 (any algorithm at each level).
#include "base/wide.hpp"
#include "collectives/blocks.hpp"
#include "collectives/levels/embed.hpp"

#include <fmt/format.h>

#include <map>
#include <numeric>

namespace kumihimo {
namespace {

// Where a stage's data lie. `held`: at leaders, what their nodes have reduced; in a reduce it is the output at the
// root. `own`: at leaders, the results of their nodes' ranks.
enum class Where : std::uint8_t { in, out, held, own };

struct StageRow {
  bool between; // leaders; else within all nodes
  CollectiveKind kind;
  Meaning meaning;
  Where from, to;

  // Both the user's own buffers, at some rank; the root's in a reduce.
  bool from_input_to_output() const {
    return from == Where::in && (to == Where::out || (to == Where::held && meaning == Meaning::same));
  }
};

// The definition of every collective in stages.
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

struct Node {
  std::vector<Rank> members;
  std::int32_t leader = 0;         // which of them
  Numbering ranks{{}}, blocks{{}}; // blocks: of an alltoall, the pairs of each of its ranks
};

// A stage with its schedules; one within nodes has one for each kind of node.
struct Stage {
  StageRow row;
  std::vector<std::shared_ptr<const Schedule>> of_node; // or one, between nodes
  std::int32_t lanes = 0;
};

struct Composite {
  Collective collective;
  Segments segments;
  std::vector<Node> nodes;
  std::vector<std::int32_t> node_of, seat_of; // of each rank
  Numbering leaders{{}}, blocks{{}};
  std::vector<Stage> stages;

  std::int32_t root_node() const {
    return collective.has_root() ? node_of[static_cast<std::size_t>(collective.root.value)] : 0;
  }
  const Node& node(Rank r) const { return nodes[static_cast<std::size_t>(node_of[static_cast<std::size_t>(r.value)])]; }
  bool leads(Rank r) const { return seat_of[static_cast<std::size_t>(r.value)] == node(r).leader; }
};

Numbering numbers_of(const std::vector<Rank>& ranks) {
  std::vector<std::int64_t> numbers;
  for (const Rank r : ranks) numbers.push_back(r.value);
  return Numbering(std::move(numbers));
}

void seat(Composite& whole, const RankSpace& space) {
  whole.node_of.resize(static_cast<std::size_t>(space.ranks()));
  whole.seat_of.resize(static_cast<std::size_t>(space.ranks()));
  std::vector<Rank> leaders;
  std::vector<std::int64_t> begins;
  for (std::vector<Rank>& members : space.nodes()) {
    Node node;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto r = static_cast<std::size_t>(members[i].value);
      whole.node_of[r] = static_cast<std::int32_t>(whole.nodes.size());
      whole.seat_of[r] = static_cast<std::int32_t>(i);
      if (whole.collective.has_root() && members[i] == whole.collective.root) node.leader = whole.seat_of[r];
    }
    leaders.push_back(members[static_cast<std::size_t>(node.leader)]);
    begins.push_back(members[0].value);
    node.ranks = numbers_of(members);
    std::vector<std::int64_t> own(members.size() + 1);
    std::iota(own.begin(), own.end(), std::int64_t{members[0].value});
    if (whole.collective.kind == CollectiveKind::alltoall)
      for (std::int64_t& begin : own) begin *= space.ranks();
    node.blocks = Numbering(std::move(own));
    node.members = std::move(members);
    whole.nodes.push_back(std::move(node));
  }
  begins.push_back(space.ranks());
  whole.leaders = numbers_of(leaders);
  whole.blocks = Numbering(std::move(begins));
}

std::int64_t largest_node(const Composite& whole) {
  std::size_t most = 0;
  for (const Node& node : whole.nodes) most = std::max(most, node.members.size());
  return static_cast<std::int64_t>(most);
}

// Leaders name their blocks among those of all pairs of ranks, and exchange as many as the largest nodes have.
bool pairs_fit(const Composite& whole) {
  const Collective& c = whole.collective;
  const Wide most = largest_node(whole), nodes = static_cast<Wide>(whole.nodes.size());
  const Wide pairs = std::max(Wide{c.ranks} * c.ranks, most * most * nodes);
  return pairs * c.counts.each < (Wide{1} << 61) / c.type_bytes;
}

// Node after node holds the ranks that follow.
bool consecutive(const Composite& whole) {
  std::int32_t next = 0;
  for (const Node& node : whole.nodes)
    for (const Rank r : node.members)
      if (r.value != next++) return false;
  return true;
}

std::int64_t elements_of_block(const Counts& counts, std::int64_t block) {
  return counts.irregular() ? (*counts.table)[static_cast<std::size_t>(block)] : counts.each;
}

Counts as_counts(std::vector<std::int64_t> blocks, bool irregular) {
  if (!irregular && std::equal(blocks.begin() + 1, blocks.end(), blocks.begin()))
    return {Counts::Known::uniform, blocks[0], nullptr};
  const auto number = static_cast<std::int64_t>(blocks.size());
  const std::int64_t sum = std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
  return {Counts::Known::global, sum / number, std::make_shared<const std::vector<std::int64_t>>(std::move(blocks))};
}

// The question that a stage asks of the leaders, or of a node's ranks.
Collective question_of(const Composite& whole, const StageRow& row, const Node* node) {
  const Counts& counts = whole.collective.counts;
  const bool pairs = whole.collective.kind == CollectiveKind::alltoall;
  Collective c = whole.collective;
  c.kind = row.kind;
  c.ranks = static_cast<std::int32_t>(node ? node->members.size() : whole.nodes.size());
  c.root = !c.has_root() ? Rank{0} : node ? Rank{node->leader} : Rank{whole.root_node()};
  c.in_place = row.from == row.to || row.kind == CollectiveKind::bcast;
  if (row.from_input_to_output())
    c.in_place = whole.collective.aliased(node->members[static_cast<std::size_t>(node->leader)]);
  if (row.meaning == Meaning::signals) {
    c = make_collective(row.kind, c.ranks, row.kind == CollectiveKind::barrier ? 0 : 1, DataType::uint8, Operation::max,
                        c.root);
  } else if (row.meaning == Meaning::vector_of_blocks) {
    std::int64_t all = 0;
    for (std::int64_t b = 0; b < whole.collective.ranks; ++b) all += elements_of_block(counts, b);
    c.counts = {Counts::Known::uniform, all, nullptr};
  } else if (pairs) { // rows of all a rank has, or blocks as large as the largest, which all have
    const std::int64_t most = largest_node(whole);
    c.counts = {Counts::Known::uniform, counts.each * (row.between ? most * most : whole.collective.ranks), nullptr};
  } else if (row.meaning == Meaning::groups_of_blocks) {
    const Numbering& begins = node ? node->blocks : whole.blocks;
    std::vector<std::int64_t> blocks(static_cast<std::size_t>(c.ranks), 0);
    for (std::int64_t g = 0; g < c.ranks; ++g)
      for (std::int64_t b = begins.at(g); b < begins.at(g + 1); ++b)
        blocks[static_cast<std::size_t>(g)] += elements_of_block(counts, b);
    c.counts = as_counts(std::move(blocks), counts.irregular());
  }
  return c;
}

Embedding embedding_of(const Composite& whole, const Stage& stage, Rank rank, std::int32_t first_lane,
                       std::int32_t held, std::int32_t own) {
  const Node& node = whole.node(rank);
  const bool pairs = whole.collective.kind == CollectiveKind::alltoall;
  const std::int64_t P = whole.collective.ranks, before = pairs ? rank.value * P : 0; // of all pairs
  const auto spot = [&](Where where) -> Spot {
    switch (where) {
    case Where::in:
      return {in, Layout::input_blocks, before};
    case Where::held:
      if (held < 0) return {out, Layout::output_blocks, 0};
      return {{{Buffer::Kind::scratch, held}}, pairs ? Layout::pairs_by_source : Layout::input_blocks, 0};
    case Where::own:
      return {{{Buffer::Kind::scratch, own}}, pairs ? Layout::pairs_by_destination : Layout::output_blocks, 0};
    default:
      return {out, Layout::output_blocks, before};
    }
  };
  Embedding e;
  e.meaning = stage.row.meaning;
  e.blocks = P;
  if (pairs) e.scratch = stage.row.from == Where::in ? Layout::pairs_by_source : Layout::pairs_by_destination;
  e.first_own = node.members[0].value;
  e.own = static_cast<std::int64_t>(node.members.size());
  e.peers = stage.row.between ? &whole.leaders : &node.ranks;
  e.begins = stage.row.between ? &whole.blocks : &node.blocks;
  e.input = spot(stage.row.from);
  e.output = spot(stage.row.to);
  e.first_lane = first_lane;
  // In place a result that is longer than the first block lies over input of later segments.
  if (whole.collective.counts.irregular() && stage.row.from == Where::own) e.after = Scope::all;
  e.role = fmt::format("{} {}", name_of(stage.row.kind), stage.row.between ? "between nodes" : "within the node");
  return e;
}

// What leaders hold beside their buffers: all stages' lanes share it.
void declare_scratch(const Composite& whole, Rank rank, Program& program, std::int32_t& held, std::int32_t& own) {
  const Collective& c = whole.collective;
  if (!whole.leads(rank)) return;
  if (c.kind == CollectiveKind::reduce && rank != c.root) {
    held = 0;
    program.scratch.push_back(Scratch{LaneId{0}, true, Layout::vector, 1, 1, 1, true, 0});
  }
  const Node& node = whole.node(rank);
  const std::int64_t size = static_cast<std::int64_t>(node.members.size()), first = node.members[0].value, P = c.ranks;
  if (c.kind == CollectiveKind::alltoall) {
    held = 0, own = 1;
    for (const Layout layout : {Layout::pairs_by_source, Layout::pairs_by_destination})
      program.scratch.push_back(Scratch{LaneId{0}, true, layout, 1, size * P, 1, true, first * P});
  }
  if (c.kind != CollectiveKind::reduce_scatter) return;
  held = 0, own = 1;
  program.scratch.push_back(Scratch{LaneId{0}, true, Layout::input_blocks, 1, c.ranks, 1, true, 0});
  program.scratch.push_back(Scratch{LaneId{0}, true, Layout::output_blocks, 1, size, 1, true, first});
}

std::optional<std::string> write(const Composite& whole, Rank rank, Program& program) {
  std::int32_t held = -1, own = -1, first_lane = 0;
  declare_scratch(whole, rank, program, held, own);
  const auto r = static_cast<std::size_t>(rank.value);
  for (const Stage& stage : whole.stages) {
    if (!stage.row.between || whole.leads(rank)) {
      const auto node = static_cast<std::size_t>(whole.node_of[r]);
      const Schedule& part = *stage.of_node[stage.row.between ? 0 : node];
      const std::int32_t seat = stage.row.between ? whole.node_of[r] : whole.seat_of[r];
      const Embedding e = embedding_of(whole, stage, rank, first_lane, held, own);
      if (auto obstacle = embed(part.program(Rank{seat}), e, program)) return obstacle;
    }
    first_lane += stage.lanes;
  }
  return std::nullopt;
}

// The parameters that a stage's algorithm takes of those that were asked for.
Parameters parameters_for(const Variant& v, const Parameters& p, Segments segments) {
  Parameters given;
  for (const Variant::Parameter& q : v.parameters) {
    if (q.name == "segment_bytes") given.segments = segments.count;
    if (q.name == "window") given.window = p.window;
    if (q.name == "overlap" && v.kind == CollectiveKind::allreduce && segments.count > 1) given.overlap = true;
  }
  return given;
}

Result<std::shared_ptr<const Schedule>> part_of(const Composite& whole, const StageRow& row, const Node* node,
                                                const RankSpace& space, const std::string& name, const Parameters& p) {
  const Result<const Variant*> v = Registry::standard().find(row.kind, name);
  if (!v) return v.error();
  const Collective question = question_of(whole, row, node);
  const Segments segments = row.meaning == Meaning::signals ? Segments{} : whole.segments;
  Result<Schedule> s = (*v)->build(question, space, parameters_for(**v, p, segments));
  if (!s) return s.error();
  if (s->segments.count != 1 && s->segments != whole.segments)
    return not_applicable(fmt::format("{} {} makes segments of its own", name_of(row.kind), name));
  if (question.in_place && !s->claims.in_place_safe)
    return not_applicable(fmt::format("{} {} is not safe in place", name_of(row.kind), name));
  return std::make_shared<const Schedule>(std::move(*s));
}

std::int32_t lanes_of(const Schedule& s) {
  std::int32_t lanes = 0;
  for (std::int32_t r = 0; r < s.ranks(); ++r)
    for (const Lane& lane : s.program(Rank{r}).lanes) lanes = std::max(lanes, lane.id.value + 1);
  return lanes;
}

Status add_stage(Composite& whole, const StageRow& row, const RankSpace& leaders, const std::string& name,
                 const Parameters& p) {
  Stage stage{row, {}, 0};
  if (row.between) {
    const auto part = part_of(whole, row, nullptr, leaders, name, p);
    if (!part) return part.error();
    stage.of_node.push_back(*part);
    stage.lanes = lanes_of(**part);
  }
  // Nodes that are asked the same share the answer; those of irregular blocks are all different.
  std::map<std::tuple<std::size_t, std::int32_t, bool>, std::shared_ptr<const Schedule>> known;
  for (const Node& node : whole.nodes) {
    if (row.between) break;
    const Collective question = question_of(whole, row, &node);
    auto& part = known[{node.members.size(), node.leader, question.in_place}];
    if (!part || whole.collective.counts.irregular()) {
      const auto made =
          part_of(whole, row, &node, RankSpace::node(static_cast<std::int32_t>(node.members.size())), name, p);
      if (!made) return made.error();
      part = *made;
      stage.lanes = std::max(stage.lanes, lanes_of(*part));
    }
    stage.of_node.push_back(part);
  }
  whole.stages.push_back(std::move(stage));
  return Nothing{};
}

std::string usual_outer(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::allreduce:
    return "recursive_doubling";
  case CollectiveKind::allgather:
  case CollectiveKind::reduce_scatter:
    return "ring";
  case CollectiveKind::alltoall:
    return "pairwise";
  case CollectiveKind::barrier:
    return "dissemination";
  default:
    return "binomial";
  }
}

Result<Schedule> recipe(const Collective& c, const RankSpace& space, const Parameters& p) {
  auto whole = std::make_shared<Composite>();
  whole->collective = c;
  seat(*whole, space);
  const bool blocks = !is_vector_kind(c.kind) && c.kind != CollectiveKind::barrier;
  if (whole->nodes.size() == 1) return not_applicable("it needs several nodes, and all ranks are on one");
  if (whole->nodes.size() == static_cast<std::size_t>(c.ranks))
    return not_applicable("it needs nodes of several ranks, and each rank has a node of its own");
  if (blocks && !consecutive(*whole))
    return not_applicable("its blocks must lie node by node, and nodes hold ranks that are not consecutive");
  if (c.kind == CollectiveKind::alltoall && !pairs_fit(*whole))
    return not_applicable("the blocks of all pairs of ranks must fit in 61 bits of bytes");
  if (c.kind != CollectiveKind::barrier) {
    const auto unasked = blocks ? Pipelining::whole_message : Pipelining::machine_segments;
    const Result<Segments> segments = choose_segments(c, p, 1, unasked);
    if (!segments) return segments.error();
    whole->segments = *segments;
  }
  const std::string inner = p.inner.value_or("binomial"), outer = p.outer.value_or(usual_outer(c.kind));
  const RankSpace leaders = space.between_nodes();
  for (const StageRow& row : stages_of(c.kind))
    if (Status s = add_stage(*whole, row, leaders, row.between ? outer : inner, p); !s) return s.error();
  for (std::int32_t r = 0; r < c.ranks; ++r) {
    Program program;
    if (const auto obstacle = write(*whole, Rank{r}, program)) return not_applicable(*obstacle);
  }
  Schedule s;
  s.collective = c;
  s.segments = whole->segments;
  s.parameters = fmt::format("inner={} outer={} segments={}", inner, outer, s.segments.count);
  s.claims.keeps_rank_order = consecutive(*whole);
  for (const Stage& stage : whole->stages)
    for (const auto& part : stage.of_node) {
      s.claims.keeps_rank_order &= part->claims.keeps_rank_order || !part->collective.reduces();
      s.claims.offloads |= part->claims.offloads;
      if (stage.row.from_input_to_output()) s.claims.in_place_safe &= part->claims.in_place_safe;
    }
  s.shared_bytes = static_cast<std::int64_t>(c.ranks) * 4 * static_cast<std::int64_t>(sizeof(std::int64_t));
  s.program = [whole = std::shared_ptr<const Composite>(std::move(whole))](Rank rank) {
    Program program;
    write(*whole, rank, program);
    return program;
  };
  return s;
}

} // namespace

Rows hierarchical_rows() {
  Variant v;
  v.name = "hierarchical";
  v.summary = "any algorithm within nodes, and any between their leaders";
  v.cost = "that of its parts; with segments the slowest part's";
  v.reference = "Karonis et al., IPDPS 2000; Träff, Rougier, EuroMPI/ASIA 2014";
  v.recipe = recipe;
  Rows rows;
  using enum CollectiveKind;
  for (const CollectiveKind kind : {bcast, reduce, allreduce, allgather, reduce_scatter, alltoall, barrier}) {
    v.kind = kind;
    v.equal_counts =
        kind == alltoall ? "leaders relay blocks of their nodes' ranks, whose lengths they do not know" : "";
    v.parameters = {{"inner", "binomial", "the algorithm within nodes"},
                    {"outer", usual_outer(kind), "the algorithm between their leaders"}};
    if (kind != barrier)
      v.parameters.insert(v.parameters.end(),
                          {{"segment_bytes", is_vector_kind(kind) ? "the machine's" : "the whole block",
                            "bytes of a step, at all levels"},
                           {"window", "that of the parts", "segments in flight on each lane"}});
    rows.push_back(v);
  }
  return rows;
}

} // namespace kumihimo
