#include "collectives/registry.hpp"

#include "base/int128.hpp"
#include "base/text_parsing.hpp"
#include "program/builder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace kumihimo {
namespace {

// One rank alone: its input is its output, but where there is none.
Schedule local_copy(const Collective& collective) {
  const bool vector = collective.kind->is_vector();
  const bool copies = collective.kind->moves_data() && collective.kind->from != Contributors::before_itself;
  Schedule s(collective);
  s.claims.keeps_rank_order = true;
  s.claims.neighbours_only = s.claims.link_disjoint = true;
  s.program = [=](Rank) {
    ProgramBuilder program;
    LaneBuilder lane(LaneId{0}, "copy", 1);
    if (copies && !collective.aliased(Rank{0}))
      lane.step(copy(out[vector ? whole() : blocks(Layout::output_blocks, 0)],
                     in[vector ? whole() : blocks(Layout::input_blocks, 0)]));
    program.add(std::move(lane));
    return program.finish();
  };
  return s;
}

} // namespace

Status check_collective(const Collective& c, const RankSpace& space, const Parameters& p) {
  if (c.ranks < 1) return wrong_value("a collective has at least 1 rank", c.ranks);
  if (c.ranks != space.ranks())
    return wrong_value(fmt::format("the shape must have a place for each of the {} ranks", c.ranks), space.name(),
                       "give a shape whose lengths multiply to the ranks");
  if (c.has_root() && (c.root.value < 0 || c.root.value >= c.ranks))
    return wrong_value(fmt::format("the root is a rank from 0 to {}", c.ranks - 1), c.root.value);
  if (!c.has_root() && c.root != Rank{0})
    return wrong_value(fmt::format("{} takes no root", name_of(c.kind)), c.root.value, "leave it out");
  if (c.kind->of_neighbours() && (!c.neighbours || c.neighbours->ranks() != c.ranks))
    return wrong_value(fmt::format("the neighbours must be those of {} ranks", c.ranks),
                       c.neighbours ? c.neighbours->name() : "none");
  if (c.counts.each < 0) return wrong_value("the count must be at least 0", c.counts.each);
  if (c.type_bytes < 1)
    return wrong_value("the element type must have a known size", name_of(c.type), "choose another type");
  if (c.counts.each > std::numeric_limits<std::int64_t>::max() / 4 / c.type_bytes / std::max(c.ranks, c.most_blocks()))
    return wrong_value("the data of all ranks must be less than 2^61 bytes",
                       fmt::format("{} elements of {} bytes on {} ranks", c.counts.each, c.type_bytes, c.ranks));
  if (c.reduces() && !is_applicable(c.type, c.operation))
    return wrong_value(fmt::format("the operation must apply to {}", name_of(c.type)), name_of(c.operation));
  if (p.segment_bytes && *p.segment_bytes < c.type_bytes)
    return wrong_value(fmt::format("a segment has at least one element, {} bytes", c.type_bytes), *p.segment_bytes,
                       "leave segment_bytes out for the default");
  return Nothing{};
}

namespace {

Status check_range(const ParameterDeclaration& q, const Parameters& p) {
  const auto* number = std::get_if<ParameterDeclaration::Number>(&q.value);
  return number && p.**number ? q.check(*(p.**number)) : Status(Nothing{});
}

bool is_alternative(const ParameterDeclaration& q, const ParameterDeclaration& other) {
  const auto* const number = std::get_if<ParameterDeclaration::Number>(&other.value);
  return number && q.alternative_to && q.alternative_to == *number;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t next = std::min({row[j] + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1])});
      corner = std::exchange(row[j], next);
    }
  }
  return row[b.size()];
}

} // namespace

bool Variant::takes(const ParameterDeclaration& asked) const {
  return std::holds_alternative<ParameterDeclaration::Hint>(asked.value) ||
         std::ranges::any_of(parameters, [&](const Parameter& each) {
           // Compared by name: each Python module has its own copy of the declarations, and variants cross from one to
           // another.
           return each.parameter->name == asked.name || is_alternative(asked, *each.parameter);
         });
}

Status Variant::check(const Parameters& p) const {
  for (const ParameterDeclaration& q : declared_parameters)
    if (Status s = check_range(q, p); !s) return s;
  for (const ParameterDeclaration& q : declared_parameters)
    for (const ParameterDeclaration& other : declared_parameters)
      if (is_alternative(q, other) && q.is_given(p) && other.is_given(p))
        return wrong_value(fmt::format("{} and {} exclude each other", q.name, other.name), {},
                           "leave one of them out");
  for (const ParameterDeclaration& q : declared_parameters)
    if (q.is_given(p) && !takes(q))
      return not_applicable(fmt::format("{} has no parameter {}", name, q.name), {}, "leave it out");
  if (p.throttle && p.send_window && p.receive_window)
    return not_applicable("throttle has no effect beside send_window and receive_window", {}, "leave one of them out");
  for (const Parameter& each : parameters)
    for (const CollectiveKind part : each.parts)
      if (const auto& named = p.*std::get<ParameterDeclaration::Choice>(each.parameter->value))
        if (const auto found = Registry::standard().find(part, *named); !found)
          return located(std::string(each.parameter->name), found.error());
  return Nothing{};
}

Parameters Variant::with_defaults(Parameters p) const {
  for (const Parameter& each : parameters) each.parameter->set_default(p, each.default_value);
  return p;
}

Result<Schedule> Variant::build(const Collective& collective, const RankSpace& space, const Parameters& given) const {
  if (Status s = check_collective(collective, space, given); !s) return s.error();
  if (Status s = check(given); !s) return s.error();
  const Parameters p = with_defaults(given);

  if (collective.neighbours && collective.in_place)
    return not_applicable("neighbourhood collectives have no in-place form");
  const Counts::Known known = collective.counts.known;
  if ((known == Counts::Known::local || known == Counts::Known::rooted) && !equal_counts.empty())
    return not_applicable(equal_counts);
  if (collective.counts.own && !all_counts.empty()) return not_applicable(all_counts);

  // One rank alone has no algorithm, but what is asked for must be sound all the same.
  if (collective.ranks == 1)
    if (const Result<Segments> s = choose_segments(collective, p, 1); !s) return s.error();
  Result<Schedule> built = collective.ranks == 1 && !collective.neighbours ? Result<Schedule>(local_copy(collective))
                                                                           : recipe(collective, space, p);
  if (!built) return built;
  if (collective.reduces() && !collective.commutative && !built->claims.keeps_rank_order)
    return not_applicable(fmt::format(
        "{} does not keep the operands in rank order here, as an operation that does not commute needs", name));
  built->algorithm = name;
  built->claims.same_on_all_ranks = rounding.same_on_all_ranks;
  built->claims.offloads |= offloads && collective.ranks > 1;
  return built;
}

Guarantees Variant::guarantees(const Collective& c) const {
  if (!c.reduces() || algebra(c.type, c.operation).associative_in_bits) return {true, true, true, true};
  return rounding;
}

std::vector<const Variant*> Registry::variants(CollectiveKind kind) const {
  std::vector<const Variant*> found;
  for (const Variant& v : variants_)
    if (v.kind == kind) found.push_back(&v);
  return found;
}

Result<const Variant*> Registry::find(CollectiveKind kind, std::string_view name) const {
  std::vector<std::string> names;
  for (const Variant* v : variants(kind)) {
    if (v->name == name) return v;
    names.push_back(v->name);
  }
  if (names.empty()) return wrong_value(fmt::format("{} has no algorithms yet", name_of(kind)));
  const auto nearest = std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return edit_distance(a, name) < edit_distance(b, name);
  });
  return wrong_value(fmt::format("{} has no such algorithm", name_of(kind)), fmt::format("'{}'", name),
                     edit_distance(*nearest, name) * 2 <= nearest->size()
                         ? fmt::format("did you mean {}?", *nearest)
                         : fmt::format("use one of {}", fmt::join(names, ", ")));
}

namespace {

// All ranks must come to the same number, whatever they know of the counts: by the longest block where all know it.
Result<Segments> segments_of_irregular(const Collective& c, const Parameters& p, std::int64_t lane_parts,
                                       Pipelining unasked) {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  if (p.segments) {
    if (*p.segments > most)
      return wrong_value(fmt::format("irregular blocks have at most {} segments", most), *p.segments);
    return Segments{*p.segments};
  }
  if (unasked == Pipelining::whole_message && !p.segment_bytes) return Segments{1};
  if (c.counts.known != Counts::Known::global)
    return not_applicable("segment_bytes cannot be used here: no rank knows the length of the longest block", {},
                          "give the number of segments");
  const std::int64_t longest = *std::max_element(c.counts.table->begin(), c.counts.table->end());
  const Wide step = static_cast<Wide>(p.segment_bytes.value_or(p.default_segment_bytes)) * lane_parts;
  const auto count = static_cast<std::int64_t>((static_cast<Wide>(longest) * c.type_bytes + step - 1) / step);
  return Segments{std::clamp<std::int64_t>(count, 1, most)};
}

} // namespace

Result<Segments> choose_segments(const Collective& c, const Parameters& p, std::int64_t lane_parts,
                                 Pipelining unasked) {
  if (c.counts.irregular()) return segments_of_irregular(c, p, lane_parts, unasked);
  const std::int64_t most = std::max<std::int64_t>(1, c.counts.each);
  if (p.segments) {
    if (*p.segments > most)
      return wrong_value(fmt::format("segments must be at most {}, one per element", most), *p.segments,
                         "ask for fewer segments");
    return Segments{*p.segments};
  }
  if (unasked == Pipelining::whole_message && !p.segment_bytes) return Segments{1};
  const std::int64_t bytes = c.counts.each * c.type_bytes;
  const Wide step = static_cast<Wide>(p.segment_bytes.value_or(p.default_segment_bytes)) * lane_parts;
  const auto count = static_cast<std::int64_t>((bytes + step - 1) / step);
  return Segments{std::clamp<std::int64_t>(count, 1, std::max<std::int64_t>(1, most / lane_parts))};
}

const Registry& Registry::standard() {
  static const Registry registry = [] {
    Registry r;
    const auto add = [&](CollectiveKind kind, std::string_view name, Variant variant) {
      variant.kind = kind;
      variant.name = name;
      std::erase_if(variant.parameters, [&](const Variant::Parameter& p) { return p.only_for && *p.only_for != kind; });
      r.add(std::move(variant));
    };
#define ALGORITHM(collective, name) add(CollectiveKind::collective, #name, collective##_##name::row());
#include "collectives/algorithms.def"
#undef ALGORITHM
    return r;
  }();
  return registry;
}

} // namespace kumihimo
