#include "halo/halo.hpp"

#include "base/text_parsing.hpp"
#include "program/builder.hpp"
#include "program/computing.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <set>

namespace kumihimo {
namespace {

using Coordinates = std::array<std::int32_t, 3>;
using Direction = std::array<int, 3>;

constexpr std::int64_t most_fields = most_run_lists; // of one message: each has a run list of its extent
constexpr std::int64_t most_cells = std::int64_t{1} << 40, most_layers = 64;

Coordinates coordinates_of(const Halo& h, std::int32_t rank) {
  return {rank / (h.ranks[1] * h.ranks[2]), rank / h.ranks[2] % h.ranks[1], rank % h.ranks[2]};
}
std::int32_t rank_at(const Halo& h, const Coordinates& c) { return (c[0] * h.ranks[1] + c[1]) * h.ranks[2] + c[2]; }

// The rank that lies in this direction; -1: none.
std::int32_t neighbour(const Halo& h, Coordinates at, const Direction& d) {
  for (std::size_t a = 0; a < 3; ++a) {
    at[a] += d[a];
    const bool beyond = at[a] < 0 || at[a] >= h.ranks[a];
    if (beyond && !h.periodic[a]) return -1;
    at[a] = (at[a] + h.ranks[a]) % h.ranks[a];
  }
  return rank_at(h, at);
}

std::vector<Direction> directions(const Halo& h) {
  std::vector<Direction> all;
  for (int x = -1; x <= 1; ++x)
    for (int y = -1; y <= 1; ++y)
      for (int z = -1; z <= 1; ++z) {
        const int axes = std::abs(x) + std::abs(y) + std::abs(z);
        if (axes == 1 || (axes > 1 && h.points == 27))
          if ((x == 0 || h.layers[0] > 0) && (y == 0 || h.layers[1] > 0) && (z == 0 || h.layers[2] > 0))
            all.push_back({x, y, z});
      }
  return all;
}

// A box of all fields.
Extent extent_of(const Halo& h, const CellBox& box) {
  const std::int64_t volume = h.cells_with_ghosts();
  Extent e{Layout::vector, volume * h.fields, 0, {}};
  for (std::int64_t f = 0; f < h.fields; ++f) {
    const std::int64_t first = f * volume + box.low[0] + h.row() * box.low[1] + h.plane() * box.low[2];
    e.runs.push_back({first, box.length(0), {h.row(), box.length(1)}, {h.plane(), box.length(2)}});
  }
  return e;
}

// The cells next to the box's side in a direction: the rank's own, or the ghosts beyond them.
CellBox layer(const Halo& h, const Direction& d, bool ghosts) {
  CellBox box;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t n = h.cells[a], L = h.layers[a];
    box.low[a] = d[a] > 0 ? n + L * ghosts : d[a] < 0 ? L * !ghosts : L;
    box.high[a] = box.low[a] + (d[a] == 0 ? n : L) - 1;
  }
  return box;
}

Program program_of(const Halo& h, Rank rank) {
  const std::vector<HaloMessage> messages = messages_of(h, rank);
  std::vector<Step> steps;
  const auto is_other = [&](std::int32_t peer) { return peer >= 0 && peer != rank.value; };
  for (const HaloMessage& m : messages)
    if (is_other(m.from)) steps.push_back(receive(m.from, out[extent_of(h, m.received)]));
  for (const HaloMessage& m : messages)
    if (is_other(m.to)) steps.push_back(send(m.to, in[extent_of(h, m.sent)]));
  for (const HaloMessage& m : messages) // around a periodic axis of one rank
    if (m.to == rank.value) steps.push_back(copy(out[extent_of(h, m.received)], in[extent_of(h, m.sent)]));
  ProgramBuilder program;
  LaneBuilder exchange(LaneId{0}, "exchange", 1);
  if (!steps.empty()) exchange.round(std::move(steps));
  program.add(std::move(exchange));
  if (h.compute_seconds > 0) {
    const double inside = h.interior_seconds();
    LaneBuilder interior(LaneId{1}, "interior", 1), boundary(LaneId{2}, "boundary", 1);
    interior.step(compute({inside, 0, 0}));
    boundary.after({LaneId{0}, LaneId{1}}, Scope::segment);
    boundary.step(compute({h.compute_seconds - inside, 0, 0}));
    program.add(std::move(interior));
    program.add(std::move(boundary));
  }
  return program.finish();
}

bool read_cells(std::string_view text, Halo::Box& cells) {
  for (std::size_t a = 0; a < 3; ++a) {
    const auto length = a == 0 || take(text, "x") ? take_number<std::int64_t>(text) : std::nullopt;
    if (!length || *length < 1) return false;
    cells[a] = *length;
  }
  return text.empty();
}

Status read_box(std::string_view word, Halo& h) {
  if (!read_cells(word, h.cells))
    return wrong_value("halo: must be followed by the cells of a rank", fmt::format("'{}'", word),
                       "write for example halo:16x16x16,points=27,fields=3");
  for (const std::int64_t n : h.cells)
    if (n > most_cells)
      return wrong_value(fmt::format("a halo exchange has at most {} cells along an axis", most_cells), n);
  return Nothing{};
}

// A word after the cells. `key`: what may be given once.
Status read_word(std::string_view word, std::string_view key, Halo& h) {
  const std::string_view value = word.substr(std::min(key.size() + 1, word.size()));
  const auto wrong = [&](std::string rule) { return wrong_value(std::move(rule), fmt::format("'{}'", value)); };
  if (key == "points")
    return read_number(value, h.points) && (h.points == 7 || h.points == 27) ? Status(Nothing{})
                                                                             : wrong("points must be 7 or 27");
  if (key == "fields")
    return read_number(value, h.fields) && h.fields >= 1 && h.fields <= most_fields
               ? Status(Nothing{})
               : wrong(fmt::format("fields must be a number from 1 to {}", most_fields));
  if (key == "layers") {
    std::int64_t layers = 0;
    if (!read_number(value, layers) || layers < 1 || layers > most_layers)
      return wrong(fmt::format("layers must be a number from 1 to {}", most_layers));
    h.layers.fill(layers);
    return Nothing{};
  }
  if (key == "type") {
    if (value != "float32" && value != "float64") return wrong("type must be float32 or float64");
    h.type = value == "float32" ? DataType::float32 : DataType::float64;
    return Nothing{};
  }
  if (key == "compute")
    return read_number(value, h.compute_seconds) && h.compute_seconds >= 0 && h.compute_seconds <= most_compute_seconds
               ? Status(Nothing{})
               : wrong(fmt::format("compute must be a number of seconds from 0 to {:g}", most_compute_seconds));
  if (word != "mesh" && word != "periodic")
    return wrong_value("unknown word of a halo exchange", fmt::format("'{}'", word),
                       "use points=, fields=, layers=, type=, compute=, mesh or periodic");
  h.asked_periodic = word == "periodic";
  h.periodic.fill(*h.asked_periodic);
  return Nothing{};
}

} // namespace

Result<Halo> Halo::parse(std::string_view text) {
  Halo h;
  std::size_t comma = text.find(',');
  if (Status s = read_box(text.substr(0, comma), h); !s) return s.error();
  std::set<std::string_view> keys;
  while (comma != std::string_view::npos) {
    text.remove_prefix(comma + 1);
    comma = text.find(',');
    const std::string_view word = text.substr(0, comma), key = word.substr(0, word.find('='));
    if (!keys.insert(key == "mesh" ? "periodic" : key).second)
      return wrong_value("a halo exchange takes each word, and one of mesh and periodic, once",
                         fmt::format("'{}' again", word), "leave it out");
    if (Status s = read_word(word, key, h); !s) return s.error();
  }
  double all = static_cast<double>(h.fields);
  for (std::size_t a = 0; a < 3; ++a) all *= static_cast<double>(h.length(a));
  if (all > static_cast<double>(most_cells))
    return wrong_value(fmt::format("a rank has at most {} cells with the ghosts of all fields", most_cells),
                       fmt::format("{:g}", all));
  return h;
}

std::string Halo::text() const {
  std::string text = fmt::format("{}x{}x{},points={},fields={}", cells[0], cells[1], cells[2], points, fields);
  if (layers[0] != 1) text += fmt::format(",layers={}", layers[0]);
  if (type == DataType::float32) text += ",type=float32";
  if (asked_periodic) text += *asked_periodic ? ",periodic" : ",mesh";
  if (compute_seconds > 0) text += fmt::format(",compute={}", compute_seconds);
  return text;
}

Result<Halo> on_ranks(Halo halo, const std::vector<std::int32_t>& lengths, const std::vector<bool>& wraps) {
  if (lengths.size() > 3)
    return wrong_value("the grid of ranks has at most three axes", fmt::format("{} axes", lengths.size()),
                       "give a shape such as --shape 4x3x2");
  halo.ranks = {1, 1, 1};
  for (std::size_t a = 0; a < lengths.size(); ++a) {
    halo.ranks[a] = lengths[a];
    if (halo.asked_periodic.value_or(false) && !wraps[a])
      return wrong_value("a periodic halo exchange needs axes of ranks that wrap", fmt::format("mesh axis {}", a + 1),
                         "leave periodic out, or the m of the shape");
    halo.periodic[a] = halo.periodic[a] && wraps[a];
    if (halo.layers[a] > halo.cells[a] && (halo.ranks[a] > 1 || halo.periodic[a]))
      return wrong_value("a rank needs at least as many cells along each axis as there are layers",
                         fmt::format("{} cells, {} layers", halo.cells[a], halo.layers[a]));
  }
  return halo;
}

double Halo::interior_seconds() const {
  double share = 1;
  for (std::size_t a = 0; a < 3; ++a)
    if (ranks[a] > 1 || periodic[a]) // there are ghosts on the axis
      share *= static_cast<double>(std::max<std::int64_t>(0, cells[a] - 2 * layers[a])) / static_cast<double>(cells[a]);
  return compute_seconds * share;
}

std::vector<HaloMessage> messages_of(const Halo& h, Rank rank) {
  const Coordinates here = coordinates_of(h, rank.value);
  std::vector<HaloMessage> messages;
  for (const Direction& d : directions(h)) {
    const Direction back{-d[0], -d[1], -d[2]};
    messages.push_back({neighbour(h, here, d), neighbour(h, here, back), layer(h, d, false), layer(h, back, true)});
  }
  return messages;
}

NamedPrograms programs_of(const Halo& h) {
  ProgramSet set;
  DataLayout data = *one_buffer(h.rank_count(), h.fields * h.cells_with_ghosts());
  data.type = h.type;
  data.type_bytes = size_of(h.type);
  set.data = std::make_shared<const DataLayout>(std::move(data));
  set.program = [h](Rank rank) { return program_of(h, rank); };
  return {"halo:" + h.text(), std::move(set), [h](Rank rank) { return origins_of(h, rank); }, true};
}

std::vector<ElementOrigin> origins_of(const Halo& h, Rank rank) {
  const Coordinates here = coordinates_of(h, rank.value);
  // Along an axis: the ghost before the rank's cells, these, and the ghost behind them; whose each is, and where there.
  struct Stretch {
    std::int64_t first = 0, count = 0, there = 0;
    std::int32_t owner = 0;
    bool ghost = false, exists = true;
  };
  const auto stretch = [&](std::size_t a, std::int64_t first, std::int64_t count) {
    const std::int64_t L = h.layers[a], all = h.cells[a] * h.ranks[a], cell = here[a] * h.cells[a] + first - L,
                       wrapped = (cell + all) % all;
    return Stretch{first,
                   count,
                   wrapped % h.cells[a] + L,
                   static_cast<std::int32_t>(wrapped / h.cells[a]),
                   first < L || first >= L + h.cells[a],
                   count > 0 && (h.periodic[a] || cell == wrapped)};
  };
  std::array<std::array<Stretch, 3>, 3> axes;
  for (std::size_t a = 0; a < 3; ++a)
    axes[a] = {stretch(a, 0, h.layers[a]), stretch(a, h.layers[a], h.cells[a]),
               stretch(a, h.layers[a] + h.cells[a], h.layers[a])};
  const std::int64_t volume = h.cells_with_ghosts();
  std::vector<ElementOrigin> origins;
  const auto add = [&](std::int64_t field, const Stretch& x, const Stretch& y, std::int64_t j, const Stretch& z,
                       std::int64_t k) {
    if (!x.exists || (h.points == 7 && x.ghost + y.ghost + z.ghost > 1)) return;
    const std::int64_t first = field * volume + x.first + h.row() * (y.first + j) + h.plane() * (z.first + k),
                       position = field * volume + x.there + h.row() * (y.there + j) + h.plane() * (z.there + k);
    const std::int32_t from = rank_at(h, {x.owner, y.owner, z.owner});
    ElementOrigin* const last = origins.empty() ? nullptr : &origins.back();
    if (last && last->rank == from && last->first + last->count == first && last->position + last->count == position)
      last->count += x.count;
    else
      origins.push_back({first, x.count, from, position});
  };
  for (std::int64_t f = 0; f < h.fields; ++f)
    for (const Stretch& z : axes[2])
      for (std::int64_t k = 0; k < z.count && z.exists; ++k)
        for (const Stretch& y : axes[1])
          for (std::int64_t j = 0; j < y.count && y.exists; ++j)
            for (const Stretch& x : axes[0]) add(f, x, y, j, z, k);
  return origins;
}

} // namespace kumihimo
