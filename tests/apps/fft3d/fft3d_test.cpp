// fft3d over ranks: every variant is right by the check, and the check finds what is wrong.
#include "application/request.hpp"
#include "applications.hpp"
#include "distributed_fft/sphere_fft.hpp"
#include "fft/golden.hpp"
#include "fft3d/check.hpp"
#include "fft3d/choose_exchange.hpp"
#include "loopback/run_application.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <complex>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>
#include <string>

namespace kumihimo::fft3d {
namespace {

using application::Processes, application::run_processes, application::Runtime;
using nlohmann::json;

bool has_library() { return fft::LineLibrary::open("").ok(); }

application::ApplicationRequest request_of(const char* size, const char* cutoff) {
  application::ApplicationRequest request;
  request.size = size;
  request.options = {{"bands", "1"},    {"transforms", "1"}, {"decomposition", "auto"}, {"exchange", "pairwise"},
                     {"planning", "0"}, {"library", ""},     {"cutoff", cutoff},        {"wire", "float64"},
                     {"profile", "no"}, {"kind", "complex"}};
  return request;
}

Result<json> run(std::string_view variant, std::string_view size, const json& options, std::int32_t ranks,
                 const json& parameters = json::object()) {
  const json text = {{"application", "fft3d"},
                     {"size", size},
                     {"options", options},
                     {"candidates", {{{"variant", variant}, {"parameters", parameters}}}}};
  return application::run_application(text, applications(), ranks);
}

TEST(FftOverRanks, EveryVariantIsRight) {
  if (!has_library()) GTEST_SKIP();
  for (const char* variant : {"golden", "packed", "fused", "overlapped", "leader", "window"})
    for (const auto& [ranks, grid] : {std::pair{1, "auto"}, {3, "slab"}, {4, "2x2"}, {6, "pencil"}}) {
      const Result<json> found =
          run(variant, "6x10x9", {{"decomposition", grid}, {"bands", "3"}, {"transforms", "2"}}, ranks,
              std::string_view(variant) == "golden" ? json::object() : json{{"block", 1}, {"at_once", 2}});
      ASSERT_TRUE(found.ok()) << variant << " " << grid << ": " << found.error().sentence();
      EXPECT_TRUE((*found)["checked"]["right"]) << variant << " " << grid << (*found)["checked"];
    }
}

TEST(FftOverRanks, EveryVariantIsRightForRealGrids) {
  if (!has_library()) GTEST_SKIP();
  for (const char* variant : {"golden", "packed", "fused", "overlapped", "window"})
    for (const auto& [size, ranks, grid] :
         {std::tuple{"6x10x9", 1, "auto"}, {"6x10x8", 3, "slab"}, {"5x7x1", 4, "2x2"}, {"3x2x5", 6, "pencil"}}) {
      const json options = {{"decomposition", grid}, {"bands", "3"}, {"transforms", "2"}, {"kind", "real"}};
      const Result<json> found =
          run(variant, size, options, ranks,
              std::string_view(variant) == "golden" ? json::object() : json{{"block", 1}, {"at_once", 2}});
      ASSERT_TRUE(found.ok()) << variant << " " << grid << ": " << found.error().sentence();
      EXPECT_TRUE((*found)["checked"]["right"]) << variant << " " << grid << (*found)["checked"];
    }
}

// Beyond 2^15 points it goes by factors.
TEST(FftOverRanks, TheGoldenCopyTransformsLargeGridsAndSpheres) {
  for (const json& options : {json{{"kind", "complex"}}, {{"kind", "real"}}, {{"cutoff", "sphere"}}})
    for (const char* size : {"9x12x10", "72x70x64"}) {
      json asked = options;
      asked.update({{"transforms", "1"}, {"bands", "2"}});
      const Result<json> found = run("golden", size, asked, 3);
      ASSERT_TRUE(found.ok()) << found.error().sentence();
      EXPECT_TRUE((*found)["checked"]["right"]) << options << size << (*found)["checked"];
    }
}

// More ranks than planes and columns, too; the rest of the bands is a block of its own.
TEST(FftOverRanks, ASphereIsRight) {
  if (!has_library()) GTEST_SKIP();
  for (const char* variant : {"fused", "overlapped", "leader", "window"})
    for (const auto& [size, radius] : {std::pair{"12", "sphere"}, {"7x9x8", "2.5"}, {"5", "0"}})
      for (const std::int32_t ranks : {1, 3, 4, 9}) {
        const json options = {{"cutoff", radius}, {"bands", "5"}, {"transforms", "2"}};
        const Result<json> found = run(variant, size, options, ranks, {{"block", 1}, {"at_once", 2}});
        ASSERT_TRUE(found.ok()) << variant << ": " << found.error().sentence();
        EXPECT_TRUE((*found)["checked"]["right"]) << variant << " " << size << " " << ranks << (*found)["checked"];
      }
  for (const char* size : {"40x36x48", "64x72x60"}) {
    const Result<json> large = run("fused", size, {{"cutoff", "sphere"}, {"transforms", "1"}}, 2);
    ASSERT_TRUE(large.ok()) << large.error().sentence();
    EXPECT_TRUE((*large)["checked"]["right"]) << (*large)["checked"];
  }
}

// In blocks of bands, with a rest, the grid of each seen once; and whatever stands on the grid comes back.
TEST(FftOverRanks, ASphereGoesThereAndBackBlockByBlock) {
  if (!has_library()) GTEST_SKIP();
  for (const bool overlaps : {false, true})
    for (const auto kind : {distributed_fft::ExchangeKind::messages, distributed_fft::ExchangeKind::window,
                            distributed_fft::ExchangeKind::leaders})
      for (const std::int64_t at_once : {1, 2, 5}) {
        application::ApplicationRequest request = request_of("9x8x10", "sphere");
        request.options["bands"] = "5";
        const auto work = [&](Processes& processes) -> Status {
          std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
          const FftProblem problem = TRY(problem_of(request, 3));
          distributed_fft::TransformWay way;
          way.kind = kind;
          way.overlaps = overlaps;
          way.bands_at_once = at_once;
          std::unique_ptr<fft::LineLibrary> library = TRY(fft::LineLibrary::open(""));
          auto sphere = TRY(distributed_fft::SphereFft::make(*problem.sphere, 5, way, *library, *runtime));
          const std::int64_t points = sphere->own_box().points(), own = 5 * sphere->own_coefficients();
          const Grid in = TRY(values_of(problem, sphere->own_columns()));
          Grid grid = TRY(Grid::zeros(5 * points)), block = TRY(Grid::zeros(at_once * points));
          Grid back = TRY(Grid::zeros(own)), doubled = TRY(Grid::zeros(own));
          if (Status s = sphere->to_grid(in.data(), grid.data()); !s) return s;
          if (Status s = sphere->to_coefficients(grid.data(), back.data()); !s) return s;
          std::int64_t seen = 0, wrong = 0;
          const auto on_grid = [&](fft::Complex* some, std::int64_t first, std::int64_t bands) {
            EXPECT_EQ(first, seen);
            seen += bands;
            for (std::int64_t i = 0; i < bands * points; ++i) {
              wrong += some[i] != grid[first * points + i];
              some[i] *= 2;
            }
          };
          if (Status s = sphere->there_and_back(in.data(), block.data(), doubled.data(), on_grid); !s) return s;
          EXPECT_EQ(seen, 5);
          for (std::int64_t i = 0; i < own; ++i) wrong += doubled[i] != 2.0 * back[i];
          EXPECT_EQ(wrong, 0) << overlaps << " " << at_once;
          return Nothing{};
        };
        const auto [status, printed] = run_processes(3, false, 1, work);
        ASSERT_TRUE(status.ok()) << status.error().sentence();
      }
}

// What engines count is what blocks say; relayed blocks are sent more than once.
TEST(FftOverRanks, TheBytesOfMessagesAreCounted) {
  if (!has_library()) GTEST_SKIP();
  for (const char* variant : {"packed", "fused", "overlapped", "leader"})
    for (const json& options : {json{{"decomposition", "slab"}},
                                {{"decomposition", "2x2"}, {"kind", "real"}},
                                {{"cutoff", "sphere"}},
                                {{"wire", "float32"}}}) {
      if (std::string_view(variant) == "packed" && options.contains("cutoff")) continue;
      json asked = options;
      asked.update({{"transforms", "3"}, {"bands", "5"}});
      json parameters = {{"block", 1}, {"at_once", 2}};
      if (std::string_view(variant) == "leader") parameters["group"] = 2;
      const Result<json> found = run(variant, "9x10x12", asked, 4, parameters);
      ASSERT_TRUE(found.ok()) << variant << ": " << found.error().sentence();
      const json& facts = (*found)["facts"];
      EXPECT_GT(facts["bytes of messages a transform"], 0);
      EXPECT_EQ(facts["bytes of messages a transform, counted"], facts["bytes of messages a transform"])
          << variant << options;
    }
  EXPECT_FALSE(
      run("window", "8", {{"transforms", "1"}}, 3)->at("facts").contains("bytes of messages a transform, counted"));
}

TEST(FftOverRanks, AnExchangeWithoutEffectIsRefused) {
  if (!has_library()) GTEST_SKIP();
  const Result<json> found = run("window", "8", {{"exchange", "linear"}}, 2);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().sentence(),
            "window has no messages of an alltoall of the registry (got exchange=linear); leave exchange out");
  EXPECT_EQ((*run("window", "8", {{"transforms", "1"}}, 2))["facts"]["exchange"], "shared memory");
}

TEST(FftOverRanks, AWrongPointOfASphereIsFound) {
  if (!has_library()) GTEST_SKIP();
  for (const char* size : {"8", "64x72x60"}) {
    const application::ApplicationRequest request = request_of(size, "2");
    const auto [status, printed] = run_processes(1, false, 1, [&](Processes& processes) -> Status {
      std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
      const FftProblem problem = TRY(problem_of(request, 1));
      std::vector<std::int32_t> columns(problem.sphere->columns.size());
      std::iota(columns.begin(), columns.end(), 0);
      const fft::PointBox box = fft::whole_box(problem.pencils.points);
      Grid back = TRY(values_of(problem, columns)), grid = TRY(Grid::zeros(box.points()));
      std::unique_ptr<fft::LineLibrary> library = TRY(fft::LineLibrary::open(""));
      auto sphere = TRY(distributed_fft::SphereFft::make(*problem.sphere, 1, {}, *library, *runtime));
      if (Status s = sphere->to_grid(back.data(), grid.data()); !s) return s;
      for (fft::Complex& each : back) each *= problem.points();
      const auto is_right = [&] { return check_sphere(problem, columns, box, grid, back, *runtime)["right"]; };
      EXPECT_TRUE(is_right());
      back[3] *= 1 + 1e-9;
      EXPECT_FALSE(is_right());
      back[3] /= 1 + 1e-9;
      grid[7] *= 2;
      EXPECT_FALSE(is_right());
      grid[7] /= 2;
      for (fft::Complex& each : grid) each = std::conj(each);
      EXPECT_FALSE(is_right());
      return Nothing{};
    });
    ASSERT_TRUE(status.ok()) << status.error().sentence();
  }
}

// Beyond 2^15 points the check goes by factors, beyond 2^18 by single frequencies.
TEST(FftOverRanks, ALargeGridIsRight) {
  if (!has_library()) GTEST_SKIP();
  for (const char* kind : {"complex", "real"})
    for (const char* size : {"40x36x48", "64x72x60"}) {
      const Result<json> found = run("fused", size, {{"transforms", "1"}, {"kind", kind}}, 2);
      ASSERT_TRUE(found.ok()) << found.error().sentence();
      EXPECT_TRUE((*found)["checked"]["right"]) << (*found)["checked"];
      EXPECT_LT((*found)["checked"]["error"], 3e-15);
    }
}

TEST(FftOverRanks, AWrongValueIsFound) {
  for (const char* size : {"8", "64x72x60"}) {
    const application::ApplicationRequest request = request_of(size, "none");
    const auto [status, printed] = run_processes(1, false, 1, [&](Processes& processes) -> Status {
      std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
      const FftProblem problem = TRY(problem_of(request, 1));
      const fft::Triple& n = problem.pencils.points;
      const Grid values = TRY(values_of(problem, fft::whole_box(n)));
      Grid spectrum = TRY(values_of(problem, fft::whole_box(n))), back = TRY(Grid::zeros(values.size()));
      fft::golden::transform_of_any_size(n, fft::TransformDirection::forward, spectrum.data());
      for (std::int64_t i = 0; i < values.size(); ++i) back[i] = values[i] * problem.points();
      EXPECT_TRUE(check(problem, spectrum, back, *runtime)["right"]);
      back[5] += 1e-9 * problem.points();
      EXPECT_FALSE(check(problem, spectrum, back, *runtime)["right"]);
      back[5] = std::complex<double>(std::nan(""), 0);
      EXPECT_FALSE(check(problem, spectrum, back, *runtime)["right"]);
      back[5] = values[5] * problem.points();
      std::swap(spectrum[3], spectrum[4]); // Parseval does not see it
      if (problem.points() <= 1 << 18) {
        EXPECT_FALSE(check(problem, spectrum, back, *runtime)["right"]);
      }
      std::swap(spectrum[3], spectrum[4]);
      for (fft::Complex& each : spectrum) each = std::conj(each); // nor this one: the inverse transform in its place
      EXPECT_FALSE(check(problem, spectrum, back, *runtime)["right"]);
      for (fft::Complex& each : spectrum) each = std::conj(each);
      spectrum[7] *= 2; // no frequency that the check of large grids computes
      EXPECT_FALSE(check(problem, spectrum, back, *runtime)["right"]);
      return Nothing{};
    });
    ASSERT_TRUE(status.ok()) << status.error().sentence();
  }
}

// The error is that of floats, below the bound that says so, and above that of doubles.
TEST(FftOverRanks, FloatsInMessagesAreRightWithinTheirBound) {
  if (!has_library()) GTEST_SKIP();
  for (const char* variant : {"packed", "fused", "overlapped", "leader"})
    for (const auto& [size, grid] : {std::pair{"9x10x12", "slab"}, {"9x10x12", "2x2"}, {"40x36x48", "2x2"}})
      for (const auto& [cutoff, kind] : {std::pair{"none", "complex"}, {"none", "real"}, {"sphere", "complex"}}) {
        if (std::string_view(cutoff) == "sphere" && std::string_view(variant) == "packed") continue;
        json options = {{"transforms", "1"}, {"wire", "float32"}, {"cutoff", cutoff}, {"kind", kind}};
        if (std::string_view(cutoff) == "none") options["decomposition"] = grid;
        const Result<json> found = run(variant, size, options, 4);
        ASSERT_TRUE(found.ok()) << variant << ": " << found.error().sentence();
        const json& checked = (*found)["checked"];
        EXPECT_TRUE(checked["right"]) << variant << " " << size << checked;
        EXPECT_GT(checked["error"], 1e-9);
        EXPECT_LT(checked["bound"], 1e-5);
      }
}

// On several nodes; all ranks choose the same, also where rows and columns measure exchanges of their own.
TEST(FftOverRanks, ExchangesWithinRowsAndColumnsAreMeasured) {
  for (const auto& [grid, kind, variant] : {std::tuple{"slab", "complex", distributed_fft::ExchangeKind::messages},
                                            {"2x3", "complex", distributed_fft::ExchangeKind::messages},
                                            {"3x2", "real", distributed_fft::ExchangeKind::messages},
                                            {"3x2", "real", distributed_fft::ExchangeKind::leaders}}) {
    application::ApplicationRequest request = request_of("7x9x8", "none");
    request.options["exchange"] = "auto";
    request.options["decomposition"] = grid;
    request.options["kind"] = kind;
    std::vector<std::string> chosen(6);
    const auto work = [&, kind_of_exchange = variant](Processes& processes) -> Status {
      std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
      const FftProblem problem = TRY(problem_of(request, 6));
      distributed_fft::TransformWay way;
      way.kind = kind_of_exchange;
      way.exchange = problem.exchange;
      const std::vector<distributed_fft::ExchangeTime> times =
          TRY(choose_exchange(problem, 10, "", way, *runtime)).times;
      EXPECT_GE(times.size(), 3U) << request.option("decomposition");
      for (const distributed_fft::ExchangeTime& each : times) EXPECT_GE(each.seconds, times[0].seconds);
      EXPECT_EQ(way.exchange, times.at(0).exchange);
      chosen[static_cast<std::size_t>(runtime->rank())] = way.exchange;
      return Nothing{};
    };
    const auto [status, printed] = run_processes(6, false, 1, work, {0, 0, 0, 1, 1, 1});
    ASSERT_TRUE(status.ok()) << status.error().sentence();
    EXPECT_EQ(std::set<std::string>(chosen.begin(), chosen.end()).size(), 1U);
  }
}

// What ranks chose in one run, on two nodes.
struct Choices {
  std::set<std::string> names; // of all ranks
  std::vector<distributed_fft::ExchangeTime> times;
  bool is_from_wisdom = false;
  std::string error;
};
Choices choose(const std::string& folder, double budget, const char* size = "7x9x8",
               std::vector<std::int64_t> nodes = {0, 0, 0, 1, 1, 1}) {
  application::ApplicationRequest request = request_of(size, "none");
  request.options["exchange"] = "auto";
  std::vector<std::string> names(6);
  Choices found;
  const auto [status, printed] = run_processes(
      6, false, 1,
      [&](Processes& processes) -> Status {
        std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
        const FftProblem problem = TRY(problem_of(request, 6));
        distributed_fft::TransformWay way;
        way.exchange = problem.exchange;
        const ChosenExchange chosen = TRY(choose_exchange(problem, budget, folder, way, *runtime));
        names[static_cast<std::size_t>(runtime->rank())] = way.exchange;
        if (runtime->rank() > 0) return Nothing{};
        found = {{}, chosen.times, chosen.is_from_wisdom, chosen.kept ? "" : chosen.kept.error().sentence()};
        return Nothing{};
      },
      nodes);
  EXPECT_TRUE(status.ok()) << status.error().sentence();
  found.names = {names.begin(), names.end()};
  return found;
}

std::string only_file(const std::filesystem::path& folder) {
  for (const auto& each : std::filesystem::directory_iterator(folder))
    if (each.path().extension() == ".json") return each.path();
  return {};
}

json read_json(const std::string& path) { return json::parse(std::ifstream(path)); }

TEST(KeptExchanges, TheNextRunChoosesWithoutMeasurements) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "kept_exchanges";
  std::filesystem::remove_all(folder);
  const Choices first = choose(folder, 10);
  EXPECT_FALSE(first.is_from_wisdom);
  EXPECT_EQ(first.error, "");
  ASSERT_GE(first.times.size(), 3U);

  const std::string path = only_file(folder);
  json file = read_json(path);
  ASSERT_EQ(file["choices"].size(), 1U);
  EXPECT_EQ(file["choices"][0]["exchange"], first.times[0].exchange);
  EXPECT_EQ(file["choices"][0]["cut_short"], false);
  const Choices second = choose(folder, 10);
  EXPECT_TRUE(second.is_from_wisdom);
  EXPECT_EQ(second.names, first.names);
  EXPECT_EQ(second.times.size(), first.times.size());

  // The file is what decides: all ranks do as it says.
  file["choices"][0]["measured"] = {{{"exchange", "bruck"}, {"seconds", 1e-9}}};
  std::ofstream(path) << file;
  EXPECT_EQ(choose(folder, 10).names, std::set<std::string>{"bruck"});
  for (const json& measured : {json::array(), json("bruck"), json({{{"exchange", "none"}, {"seconds", 1e-9}}})}) {
    file["choices"][0]["measured"] = measured;
    std::ofstream(path) << file;
    EXPECT_FALSE(choose(folder, 10).is_from_wisdom) << measured;
  }

  // Another grid, and other nodes, are cases of their own.
  EXPECT_FALSE(choose(folder, 10, "7x9x6").is_from_wisdom);
  EXPECT_FALSE(choose(folder, 10, "7x9x8", {0, 1, 1, 1, 1, 1}).is_from_wisdom);
  EXPECT_TRUE(choose(folder, 10, "7x9x8", {5, 5, 5, 2, 2, 2}).is_from_wisdom);
  EXPECT_EQ(read_json(path)["choices"].size(), 3U);
}

TEST(KeptExchanges, ALargerBudgetMeasuresWhatTimeWasUpFor) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "cut_exchanges";
  std::filesystem::remove_all(folder);
  EXPECT_EQ(choose(folder, 0).times.size(), 1U);
  EXPECT_TRUE(choose(folder, 0).is_from_wisdom);
  const Choices larger = choose(folder, 10);
  EXPECT_FALSE(larger.is_from_wisdom);
  EXPECT_GE(larger.times.size(), 3U);
  EXPECT_TRUE(choose(folder, 0).is_from_wisdom);
  EXPECT_EQ(choose(folder, 0).times.size(), larger.times.size());
}

TEST(KeptExchanges, ADamagedFileIsLeftAsItIs) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "damaged_exchanges";
  std::filesystem::remove_all(folder);
  static_cast<void>(choose(folder, 0));
  const std::string path = only_file(folder);
  json other = read_json(path);
  other["machine"]["processor"] = "another one";
  for (const std::string& text : {std::string("{"), other.dump()}) {
    std::ofstream(path) << text;
    const Choices found = choose(folder, 10);
    EXPECT_FALSE(found.is_from_wisdom);
    EXPECT_GE(found.times.size(), 3U);
    EXPECT_NE(found.error.find("a file of exchanges cannot be used (got " + path + ")"), std::string::npos)
        << found.error;
    std::ifstream file(path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
  }
}

// What floats did to the values is not right where nobody asked for floats, nor is more than they do.
TEST(FftOverRanks, RoundingThatNobodyAskedForIsFound) {
  const application::ApplicationRequest request = request_of("8", "none");
  const auto [status, printed] = run_processes(1, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    const FftProblem problem = TRY(problem_of(request, 1));
    const fft::Triple& n = problem.pencils.points;
    const Grid values = TRY(values_of(problem, fft::whole_box(n)));
    Grid spectrum = TRY(values_of(problem, fft::whole_box(n))), back = TRY(Grid::zeros(values.size()));
    fft::golden::transform(n, fft::TransformDirection::forward, spectrum.data());
    const auto round_back = [&](double units) { // alternately up and down, by so many 2^-24
      for (std::int64_t i = 0; i < values.size(); ++i)
        back[i] = values[i] * problem.points() * (1 + (i % 2 == 0 ? units : -units) * 0x1p-24);
    };
    round_back(1);
    EXPECT_FALSE(check(problem, spectrum, back, *runtime)["right"]);
    EXPECT_TRUE(check(problem, spectrum, back, *runtime, 2)["right"]);
    round_back(3);
    EXPECT_FALSE(check(problem, spectrum, back, *runtime, 2)["right"]);
    return Nothing{};
  });
  ASSERT_TRUE(status.ok()) << status.error().sentence();
}

TEST(FftOverRanks, AProfileSumsToTheTimeOfARank) {
  if (!has_library()) GTEST_SKIP();
  for (const char* variant : {"packed", "overlapped", "leader", "window"}) {
    const Result<json> found = run(variant, "12", {{"profile", "yes"}, {"bands", "4"}, {"transforms", "2"}}, 3);
    ASSERT_TRUE(found.ok()) << variant << ": " << found.error().sentence();
    double shares = 0;
    std::set<std::string> parts;
    for (const json& row : (*found)["profile"]) {
      shares += row["share"].get<double>();
      parts.insert(row["name"]);
      EXPECT_GE(row["largest"], row["mean"]);
      EXPECT_GE(row["imbalance"], -1e-12);
      EXPECT_LE(row["imbalance"], 1 + 1e-12);
    }
    EXPECT_NEAR(shares, 1, 0.02) << variant << (*found)["profile"];
    EXPECT_EQ(parts.contains("packing and unpacking"), std::string_view(variant) == "packed");
    EXPECT_TRUE(parts.contains("waiting for the others") && parts.contains("transforming lines"));
    EXPECT_EQ((*found)["tables"][0]["rows"].size(), parts.size());
  }
  const Result<json> plain = run("fused", "12", {{"transforms", "1"}}, 3);
  ASSERT_TRUE(plain.ok());
  EXPECT_FALSE(plain->contains("profile"));
}

TEST(FftOverRanks, WrongOptionsAreOneSentence) {
  const auto sentence = [](const char* size, const json& options) {
    const Result<json> found = run("fused", size, options, 2);
    return found.ok() ? std::string("none") : found.error().sentence();
  };
  EXPECT_EQ(sentence("8", {{"bands", "0"}}), "bands must be a number from 1 to 65536 (got '0')");
  EXPECT_EQ(sentence("8", {{"transforms", "x"}}), "transforms must be a number from 1 to 1000000 (got 'x')");
  EXPECT_EQ(sentence("8", {{"planning", "-1"}}), "planning must be seconds from 0 to 600 (got '-1')");
  EXPECT_EQ(sentence("8", {{"decomposition", "3x1"}}), "rows x columns must be the number of ranks, 2 (got 3x1)");
  const Result<json> more = run("fused", "8", {{"bands", "2"}}, 2, {{"block", 1}, {"at_once", 3}});
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().sentence(),
            "3 bands at once need as many bands (got bands=2); use fewer at once or more bands");
  EXPECT_EQ(sentence("9", {{"exchange", "hierarchical"}}),
            "the exchange hierarchical does not fit here: the algorithm needs several nodes, but all ranks are in one; "
            "use exchange=pairwise");
  EXPECT_EQ(sentence("8", {{"cutoff", "ball"}}),
            "cutoff must be none, sphere, or the radius of a sphere of frequencies (got 'ball')");
  EXPECT_EQ(sentence("8", {{"cutoff", "4"}}),
            "the radius must be from 0 to 3: a grid of 8 points holds no more frequencies (got 4)");
  EXPECT_EQ(sentence("8", {{"cutoff", "sphere"}, {"decomposition", "slab"}}),
            "a sphere takes no decomposition (got slab); leave it out");
  EXPECT_EQ(sentence("8", {{"cutoff", "2"}, {"decomposition", "2x1"}}),
            "a sphere takes no decomposition (got 2x1); leave it out");
  const Result<json> golden = run("golden", "8", {{"exchange", "bruck"}}, 2);
  ASSERT_FALSE(golden.ok());
  EXPECT_EQ(golden.error().sentence(),
            "golden has no messages of an alltoall of the registry (got exchange=bruck); leave exchange out");
  const auto refused = [](const char* exchange, const char* parameter) {
    const Result<json> found =
        run("fused", "8", {{"exchange", exchange}}, 2, {{"block", 1}, {"at_once", 1}, {parameter, 2}});
    return found.ok() ? std::string("none") : found.error().sentence();
  };
  EXPECT_EQ(refused("pairwise", "throttle"),
            "exchange=pairwise takes no throttle (got 2); leave it out, or use exchange=linear");
  EXPECT_EQ(refused("bruck", "receive_window"),
            "exchange=bruck takes no receive_window (got 2); leave it out, or use exchange=linear");
  EXPECT_EQ(refused("auto", "group"),
            "exchange=pairwise takes no group (got 2); leave it out, or use exchange=hierarchical");
  EXPECT_EQ(refused("auto", "send_window"), "none");
  EXPECT_EQ(sentence("8", {{"cutoff", "sphere"}, {"kind", "real"}}),
            "a sphere of frequencies belongs to a complex grid (got kind=real); use kind=complex");
  EXPECT_NE(sentence("8x8", {}).find("8x8"), std::string::npos);
}

} // namespace
} // namespace kumihimo::fft3d
