// Transforms over ranks that are threads, in random orders of messages: any grid, decomposition and way.
#include "distributed_fft/distributed_fft.hpp"
#include "distributed_fft/leader_exchange.hpp"
#include "fft/golden.hpp"
#include "loopback/loopback_processes.hpp"
#include "threads/team.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>
#include <thread>

namespace kumihimo::distributed_fft {
namespace {

using application::Processes, application::run_processes, application::Runtime;
using fft::Complex, fft::RankPencils, fft::PointBox, fft::Triple;

struct Case {
  RankPencils pencils;
  std::int64_t bands = 1;
  TransformWay way;
  GridKind kind = GridKind::complex;

  RankPencils spectrum() const { return spectrum_of(pencils, kind); }
};

std::vector<Complex> values_of(const Triple& points, std::int64_t bands, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<Complex> values(static_cast<std::size_t>(bands * points[0] * points[1] * points[2]));
  for (Complex& each : values) each = {number(random), number(random)};
  return values;
}

// A rank's box of every band of whole grids.
std::vector<Complex> part_of(const std::vector<Complex>& grids, const Triple& points, const PointBox& box,
                             std::int64_t bands) {
  std::vector<Complex> part(static_cast<std::size_t>(bands * box.points()));
  for (std::int64_t band = 0; band < bands; ++band) {
    const fft::Brick whole = fft::dense_brick(fft::whole_box(points), const_cast<Complex*>(grids.data()));
    fft::gather({&whole, 1}, band, box, part.data() + band * box.points());
  }
  return part;
}

std::vector<double> real_parts(const std::vector<Complex>& values) {
  std::vector<double> reals;
  for (const Complex& each : values) reals.push_back(each.real());
  return reals;
}

double largest_difference(const std::vector<Complex>& a, const std::vector<Complex>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// Forward against the golden copy, and back; twice, as memory is used again.
Status transforms_right(const Case& each, Processes& processes) {
  std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
  std::unique_ptr<fft::LineLibrary> library = TRY(fft::LineLibrary::open(""));
  std::unique_ptr<DistributedFft> transform =
      TRY(DistributedFft::make(each.pencils, each.kind, each.bands, each.way, *library, *runtime));
  const Triple& n = each.pencils.points;
  const std::int64_t points = n[0] * n[1] * n[2];
  // Floats: 2^-24 of a number at each exchange, and sums of some hundred such numbers; each direction has the same.
  const double rounding = each.way.single_precision ? 1e-4 : 0;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    std::vector<Complex> grids = values_of(n, each.bands, seed);
    if (each.kind == GridKind::real)
      for (Complex& value : grids) value = value.real();
    const PointBox given = each.pencils.box(2, runtime->rank()), got = each.spectrum().box(0, runtime->rank());
    const std::vector<Complex> in = part_of(grids, n, given, each.bands);
    std::vector<Complex> out(static_cast<std::size_t>(each.bands * got.points())), back(in.size());
    if (each.kind == GridKind::real) {
      std::vector<double> reals = real_parts(in);
      if (Status s = transform->forward(reals.data(), out.data()); !s) return s;
      if (Status s = transform->backward(out.data(), reals.data()); !s) return s;
      std::ranges::copy(reals, back.begin());
    } else {
      if (Status s = transform->forward(in.data(), out.data()); !s) return s;
      if (Status s = transform->backward(out.data(), back.data()); !s) return s;
    }
    for (std::int64_t band = 0; band < each.bands; ++band)
      fft::golden::transform(n, fft::TransformDirection::forward, grids.data() + band * points);
    EXPECT_LT(largest_difference(out, part_of(grids, n, got, each.bands)), 1e-12 + rounding);
    for (Complex& value : back) value /= static_cast<double>(points);
    EXPECT_LT(largest_difference(back, in), 1e-13 + rounding / 100);
  }
  return Nothing{};
}

TEST(DistributedFft, IsTheGoldenCopysForAnyGridRanksAndWay) {
  if (const auto library = fft::LineLibrary::open(""); !library) GTEST_SKIP() << library.error().sentence();
  std::mt19937 random(5);
  for (int i = 0; i < 100; ++i) {
    Case each;
    for (std::int64_t& length : each.pencils.points) length = 1 + static_cast<std::int64_t>(random() % 9);
    each.pencils.rows = static_cast<std::int32_t>(1 + random() % 4); // also more than planes
    each.pencils.columns = static_cast<std::int32_t>(random() % 2 == 0 ? 1 : 1 + random() % 3);
    each.bands = 1 + static_cast<std::int64_t>(random() % 5);
    each.way.bands_at_once = 1 + static_cast<std::int64_t>(random() % 3); // with and without a rest
    each.way.packs = random() % 3 == 0;
    each.way.overlaps = random() % 2 == 0;
    constexpr ExchangeKind kinds[] = {ExchangeKind::messages, ExchangeKind::window, ExchangeKind::leaders};
    each.way.kind = kinds[random() % 3];
    each.way.single_precision = each.way.kind != ExchangeKind::window && random() % 3 == 0;
    each.way.exchange = random() % 2 == 0 ? "linear" : "pairwise";
    each.way.throttle = each.way.exchange == "linear" ? static_cast<std::int64_t>(random() % 3) : 0;
    if (each.way.exchange == "linear" && random() % 2 == 0) {
      each.way.send_window = static_cast<std::int64_t>(random() % 4);
      each.way.receive_window = static_cast<std::int64_t>(random() % 4);
      if (each.way.send_window > 0 && each.way.receive_window > 0) each.way.throttle = 0; // all three are refused
    }
    if (each.way.kind == ExchangeKind::leaders) each.way.group = static_cast<std::int64_t>(random() % 4);
    each.way.profiles = random() % 2 == 0;
    if (each.way.kind == ExchangeKind::messages && !each.way.packs) // also more than planes
      each.way.pieces = 1 + static_cast<std::int64_t>(random() % 4);
    each.way.block_bytes = 1 << (random() % 14);
    each.kind = i % 2 == 0 ? GridKind::complex : GridKind::real; // of even and odd lengths
    const auto [status, printed] = run_processes(each.pencils.ranks(), i % 2 == 1, random(), [&](Processes& processes) {
      return transforms_right(each, processes);
    });
    ASSERT_TRUE(status.ok()) << status.error().sentence();
  }
}

// Those whose ranks relay blocks get blocks as long as the longest.
TEST(DistributedFft, GoesByEveryAlltoallOfTheRegistry) {
  if (const auto library = fft::LineLibrary::open(""); !library) GTEST_SKIP() << library.error().sentence();
  for (const char* exchange : {"pairwise", "linear", "bruck", "hierarchical", "paced", "two_phase", "three_phase"})
    for (const std::int64_t length : {8, 9, 5}) // equal blocks, unequal ones, ranks without any
      for (const bool single_precision : {false, true}) {
        Case each{{{8, length, 5}, 8, 1}, 2, {}};
        each.way.exchange = exchange;
        each.way.single_precision = single_precision;
        const auto [status, printed] =
            run_processes(8, false, 1, [&](Processes& processes) { return transforms_right(each, processes); },
                          {0, 0, 0, 0, 1, 1, 1, 1});
        EXPECT_TRUE(status.ok()) << exchange << " " << length << ": " << status.error().sentence();
      }
}

// Leaders of two nodes, of parts of nodes, and of ranks of a node that do not follow each other.
TEST(DistributedFft, GoesByLeadersOfAnyGroups) {
  if (const auto library = fft::LineLibrary::open(""); !library) GTEST_SKIP() << library.error().sentence();
  for (const std::vector<std::int64_t>& nodes : {std::vector<std::int64_t>{0, 0, 0, 1, 1, 1}, {0, 1, 0, 1, 0, 1}})
    for (const std::int64_t group : {0, 1, 2})
      for (const char* exchange : {"pairwise", "bruck"}) {
        Case each{{{7, 9, 5}, 6, 1}, 3, {}};
        each.way.kind = ExchangeKind::leaders;
        each.way.exchange = exchange;
        each.way.group = group;
        each.way.bands_at_once = 2;
        const auto [status, printed] = run_processes(
            6, true, 1, [&](Processes& processes) { return transforms_right(each, processes); }, nodes);
        EXPECT_TRUE(status.ok()) << exchange << " " << group << ": " << status.error().sentence();
      }
}

TEST(DistributedFft, GroupsOfRanksFillNodesInOrder) {
  const std::vector<std::int64_t> nodes = {7, 7, 3, 7, 3, 7};
  EXPECT_EQ(groups_of_ranks(nodes, 0), (std::vector<std::int32_t>{0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(groups_of_ranks(nodes, 2), (std::vector<std::int32_t>{0, 0, 1, 2, 1, 2}));
  EXPECT_EQ(groups_of_ranks(nodes, 1), (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
}

TEST(DistributedFft, BlocksOfRelaysAreAsLongAsTheLongest) {
  const BlockTable table{2, {3, 4, 3, 4}};
  TransformWay way;
  EXPECT_EQ(blocks_for(way, table)->points, table.points);
  way.exchange = "bruck";
  EXPECT_EQ(blocks_for(way, table)->points, (std::vector<std::int64_t>{4, 4, 4, 4}));
}

// Half the bytes, and an error that is that of floats, not of doubles.
TEST(DistributedFft, FloatsHalveTheMessages) {
  if (const auto library = fft::LineLibrary::open(""); !library) GTEST_SKIP() << library.error().sentence();
  const auto [status, printed] = run_processes(3, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    std::unique_ptr<fft::LineLibrary> library = TRY(fft::LineLibrary::open(""));
    const RankPencils slabs{{6, 6, 6}, 3, 1};
    TransformWay way;
    const auto doubles = TRY(DistributedFft::make(slabs, GridKind::complex, 1, way, *library, *runtime));
    way.single_precision = true;
    const auto floats = TRY(DistributedFft::make(slabs, GridKind::complex, 1, way, *library, *runtime));
    EXPECT_EQ(floats->bytes_sent(), doubles->bytes_sent() / 2);
    EXPECT_EQ(floats->exchanges(), 1);
    const std::vector<Complex> in = part_of(values_of({6, 6, 6}, 1, 1), {6, 6, 6}, slabs.box(2, runtime->rank()), 1);
    std::vector<Complex> a(in.size()), b(in.size());
    if (Status s = doubles->forward(in.data(), a.data()); !s) return s;
    if (Status s = floats->forward(in.data(), b.data()); !s) return s;
    EXPECT_GT(largest_difference(a, b), 1e-9);
    EXPECT_LT(largest_difference(a, b), 1e-5);
    return Nothing{};
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
}

// A rank that comes late makes the others wait, and transferring no longer.
TEST(DistributedFft, AProfileTellsWaitingFromTransferring) {
  if (const auto library = fft::LineLibrary::open(""); !library) GTEST_SKIP() << library.error().sentence();
  const auto [status, printed] = run_processes(2, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    std::unique_ptr<fft::LineLibrary> library = TRY(fft::LineLibrary::open(""));
    TransformWay way;
    way.profiles = true;
    const RankPencils slabs{{4, 4, 4}, 2, 1};
    const auto transform = TRY(DistributedFft::make(slabs, GridKind::complex, 1, way, *library, *runtime));
    std::vector<Complex> in(32), out(32);
    if (runtime->rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (Status s = transform->forward(in.data(), out.data()); !s) return s;
    const auto seconds = [&](ProfilePart part) { return transform->profile().seconds(static_cast<std::size_t>(part)); };
    if (runtime->rank() == 0) {
      EXPECT_GT(seconds(ProfilePart::waiting), 0.1);
    }
    EXPECT_LT(seconds(ProfilePart::transferring), 0.1);
    EXPECT_GT(seconds(ProfilePart::lines), 0);
    EXPECT_GT(seconds(ProfilePart::copies), 0);
    EXPECT_EQ(seconds(ProfilePart::packing), 0);
    return Nothing{};
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
}

// Pencils exchange in rows and columns, where blocks are equal if each divides its axes; others are padded.
TEST(DistributedFft, PencilsGoByThoseOfEqualBlocksInRowsAndColumns) {
  if (const auto library = fft::LineLibrary::open(""); !library) GTEST_SKIP() << library.error().sentence();
  for (const auto& [exchange, rows, columns] :
       {std::tuple{"bruck", 2, 4}, {"bruck", 4, 2}, {"paced", 2, 4}, {"two_phase", 4, 4}})
    for (const bool equal : {true, false})
      for (const bool overlaps : {false, true}) {
        Case each{{{8, equal ? 8 : 9, 8}, rows, columns}, 3, {}};
        each.way.exchange = exchange;
        each.way.overlaps = overlaps;
        each.way.pieces = overlaps ? 3 : 1;
        each.way.single_precision = equal;
        each.kind = overlaps ? GridKind::real : GridKind::complex;
        const auto [status, printed] = run_processes(
            rows * columns, overlaps, 1, [&](Processes& processes) { return transforms_right(each, processes); });
        EXPECT_TRUE(status.ok()) << exchange << " " << rows << "x" << columns << ": " << status.error().sentence();
      }
}

// Leaders of nodes need nodes with several ranks: squares of a grid of ranks have them in rows and columns.
TEST(DistributedFft, RowsAndColumnsOfPencilsKnowTheirNodes) {
  if (const auto library = fft::LineLibrary::open(""); !library) GTEST_SKIP() << library.error().sentence();
  Case each{{{5, 8, 9}, 4, 4}, 2, {}};
  each.way.exchange = "hierarchical";
  const auto with_nodes = [&](std::vector<std::int64_t> nodes) {
    return run_processes(
               16, false, 1, [&](Processes& processes) { return transforms_right(each, processes); }, nodes)
        .first;
  };
  const Status squares = with_nodes({0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3});
  EXPECT_TRUE(squares.ok()) << squares.error().sentence();
  EXPECT_FALSE(with_nodes({0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}).ok()); // rows have one node
}

TEST(DistributedFft, RanksOnSeveralNodesShareNoWindow) {
  if (const auto library = fft::LineLibrary::open(""); !library) GTEST_SKIP() << library.error().sentence();
  Case each{{{5, 6, 7}, 2, 1}, 1, {}};
  each.way.kind = ExchangeKind::window;
  const auto [status, printed] =
      run_processes(2, false, 1, [&](Processes& processes) { return transforms_right(each, processes); }, {0, 1});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().sentence(), "ranks can share a window only on one node; use messages");
}

// What every transform satisfies, of grids too large for the golden copy's sum. Of this rank: its part of the spectrum
// of the grid with value(x, y, z).
struct SpectrumOfRank {
  PointBox box;
  std::vector<Complex> values;
};

class Spectra {
 public:
  static Result<std::unique_ptr<Spectra>> make(const Case& each, Processes& processes) {
    auto made = std::make_unique<Spectra>();
    made->case_ = each;
    made->runtime_ = TRY(Runtime::make(processes, {}));
    made->library_ = TRY(fft::LineLibrary::open(""));
    made->transform_ =
        TRY(DistributedFft::make(each.pencils, each.kind, 1, each.way, *made->library_, *made->runtime_));
    return made;
  }
  template <class Value>
  Result<SpectrumOfRank> of(Value value) {
    const PointBox given = case_.pencils.box(2, runtime_->rank());
    std::vector<Complex> grid;
    for (std::int64_t x = given.begin[0]; x < given.end[0]; ++x)
      for (std::int64_t y = given.begin[1]; y < given.end[1]; ++y)
        for (std::int64_t z = given.begin[2]; z < given.end[2]; ++z) grid.push_back(value(x, y, z));
    SpectrumOfRank found{case_.spectrum().box(0, runtime_->rank()), {}};
    found.values.resize(static_cast<std::size_t>(found.box.points()));
    const std::vector<double> reals = real_parts(grid);
    const bool is_real = case_.kind == GridKind::real;
    const void* const in = is_real ? static_cast<const void*>(reals.data()) : grid.data();
    if (Status s = transform_->forward(in, found.values.data()); !s) return s.error();
    return found;
  }
  Runtime& runtime() { return *runtime_; }

 private:
  Case case_;
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<fft::LineLibrary> library_;
  std::unique_ptr<DistributedFft> transform_;
};

// visit(x, y, z, place in the values)
template <class Visit>
void for_each_frequency(const PointBox& box, Visit visit) {
  std::size_t place = 0;
  for (std::int64_t x = box.begin[0]; x < box.end[0]; ++x)
    for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y)
      for (std::int64_t z = box.begin[2]; z < box.end[2]; ++z) visit(x, y, z, place++);
}

// By the place: the same on all ranks.
Complex value_at(std::int64_t x, std::int64_t y, std::int64_t z, GridKind kind) {
  std::uint32_t random = static_cast<std::uint32_t>((x * 1000 + y) * 1000 + z) * 2654435761U;
  random = (random ^ (random >> 15)) * 2246822519U;
  const double real = std::ldexp(random, -31) - 1, imaginary = std::ldexp(random * 3266489917U, -31) - 1;
  return {real, kind == GridKind::real ? 0 : imaginary};
}

Status satisfies_its_properties(const Case& each, Processes& processes) {
  std::unique_ptr<Spectra> spectra = TRY(Spectra::make(each, processes));
  const auto [nx, ny, nz] = each.pencils.points;
  const auto value = [&, kind = each.kind](std::int64_t x, std::int64_t y, std::int64_t z) {
    return value_at(x, y, z, kind);
  };
  const std::int64_t px = nx / 3, py = ny / 2, pz = nz / 5; // a place
  const SpectrumOfRank spectrum = TRY(spectra->of(value));
  const SpectrumOfRank shifted = TRY(spectra->of([&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return value((x + nx - px) % nx, (y + ny - py) % ny, (z + nz - pz) % nz);
  }));
  const SpectrumOfRank impulse = TRY(spectra->of(
      [&](std::int64_t x, std::int64_t y, std::int64_t z) { return Complex(x == px && y == py && z == pz ? 1 : 0); }));
  const SpectrumOfRank combined = TRY(spectra->of([&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return 2.0 * value(x, y, z) - (x == px && y == py && z == pz ? 3.0 : 0.0);
  }));
  double squares = 0, worst = 0;
  for_each_frequency(
      spectrum.box, [&, nx = nx, ny = ny, nz = nz](std::int64_t x, std::int64_t y, std::int64_t z, std::size_t place) {
        const bool has_opposite = each.kind == GridKind::real && z > 0 && 2 * z < nz; // which the half leaves out
        squares += std::norm(spectrum.values[place]) * (has_opposite ? 2 : 1);
        const double turns = static_cast<double>(x * px) / static_cast<double>(nx) +
                             static_cast<double>(y * py) / static_cast<double>(ny) +
                             static_cast<double>(z * pz) / static_cast<double>(nz);
        const Complex turned = std::polar(1.0, -2 * 3.14159265358979323846 * turns);
        worst = std::max(worst, std::abs(impulse.values[place] - turned));
        worst = std::max(worst, std::abs(shifted.values[place] - spectrum.values[place] * turned) / 100);
        worst = std::max(
            worst, std::abs(combined.values[place] - 2.0 * spectrum.values[place] + 3.0 * impulse.values[place]) / 100);
      });
  EXPECT_LT(worst, 1e-12);
  double given = 0;
  for_each_frequency(each.pencils.box(2, processes.rank()), [&](std::int64_t x, std::int64_t y, std::int64_t z,
                                                                std::size_t) { given += std::norm(value(x, y, z)); });
  const std::vector<double> totals = processes.total({squares, given}); // Parseval
  EXPECT_NEAR(totals[0] / (totals[1] * static_cast<double>(nx * ny * nz)), 1, 1e-12);
  return Nothing{};
}

TEST(DistributedFft, SatisfiesParsevalShiftImpulseAndLinearity) {
  if (const auto library = fft::LineLibrary::open(""); !library) GTEST_SKIP() << library.error().sentence();
  for (const GridKind kind : {GridKind::complex, GridKind::real})
    for (const RankPencils& pencils :
         {RankPencils{{32, 45, 50}, 1, 1}, {{33, 20, 27}, 3, 1}, {{24, 31, 40}, 2, 3}, {{2, 40, 35}, 3, 2}}) {
      Case each{pencils, 1, {}, kind};
      if (pencils.rows == 3) each.way.kind = ExchangeKind::window;
      const auto [status, printed] = run_processes(
          pencils.ranks(), false, 1, [&](Processes& processes) { return satisfies_its_properties(each, processes); });
      ASSERT_TRUE(status.ok()) << status.error().sentence();
    }
}

// What is checked before memory is asked for must not be less than what is.
TEST(DistributedFft, BytesNeededAreThoseOfItsArrays) {
  const fft::RankPencils slabs{{8, 8, 8}, 2, 1}, pencils{{8, 8, 8}, 2, 2};
  TransformWay way;
  way.block_bytes = 1 << 20; // more than a box: buffers are as long as boxes
  const double box = 4 * 8 * 8 * sizeof(Complex), buffers = 2 * 2 * box * threads::count(); // of two stages each way
  const double each = 1.5 * box; // sent and received, and of the block to itself one
  EXPECT_EQ(bytes_needed(slabs, GridKind::complex, 0, 1, way), 2 * each + buffers); // forward and backward
  way.bands_at_once = 4;
  EXPECT_EQ(bytes_needed(slabs, GridKind::complex, 0, 7, way), 2 * 7 * each + buffers); // 4 and the rest of 3
  way.overlaps = true;
  EXPECT_EQ(bytes_needed(slabs, GridKind::complex, 0, 4, way),
            2 * 4 * each + buffers); // one block overlaps with none
  EXPECT_EQ(bytes_needed(slabs, GridKind::complex, 0, 8, way), 2 * 8 * each + buffers);
  way.exchange = "bruck"; // of equal blocks, all relayed
  EXPECT_EQ(bytes_needed(slabs, GridKind::complex, 0, 8, way), 2 * 8 * 2 * box + buffers);
  way = {};
  way.block_bytes = 1 << 20;
  way.packs = true;
  EXPECT_EQ(bytes_needed(pencils, GridKind::complex, 0, 1, way),
            (2 * 2 * 1.5 + 2 * 2 * 2 + 3 * 2 * threads::count()) * box / 2); // boxes of half a slab
}

TEST(DistributedFft, FloatsAndDatatypesThatDoNotFitAreOneSentence) {
  if (const auto library = fft::LineLibrary::open(""); !library) GTEST_SKIP() << library.error().sentence();
  const auto sentence = [](ExchangeKind kind) {
    Case each{{{5, 6, 7}, 2, 1}, 1, {}};
    each.way.kind = kind;
    each.way.single_precision = true;
    const auto [status, printed] =
        run_processes(2, false, 1, [&](Processes& processes) { return transforms_right(each, processes); });
    return status.ok() ? std::string() : status.error().sentence();
  };
  EXPECT_EQ(sentence(ExchangeKind::window), "a window has no messages that could carry floats; leave wire=float32 out");
  EXPECT_EQ(sentence(ExchangeKind::library),
            "the MPI library's datatypes do not turn doubles into floats; leave wire=float32 out");
}

TEST(DistributedFft, AnExchangeThatIsNoneIsOneSentence) {
  if (const auto library = fft::LineLibrary::open(""); !library) GTEST_SKIP() << library.error().sentence();
  Case each{{{5, 6, 7}, 2, 1}, 1, {}};
  each.way.exchange = "pairwize";
  const auto [status, printed] =
      run_processes(2, false, 1, [&](Processes& processes) { return transforms_right(each, processes); });
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().sentence().find("pairwise"), std::string::npos) << status.error().sentence();
}

} // namespace
} // namespace kumihimo::distributed_fft
