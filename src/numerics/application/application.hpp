// An application: a row of apps/applications.def. The frame knows of it what this struct says.
#pragma once

#include "base/parameter.hpp"
#include "base/result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::application {

struct RequestedVariant;
struct ApplicationRequest;
class Runtime;

// An option of one application. Its values are words; the application reads numbers from them itself.
struct ApplicationOption {
  std::string_view name, meaning, symbol;
  std::string_view default_value = {};
  std::span<const std::string_view> choices = {}; // none: any word
  bool replaces_size = false;                     // where it is given, the size means nothing: a file holds the problem
};

// A smaller problem of the same kind, and how much larger the whole one is.
struct ProblemShare {
  std::string size;
  double work = 1;       // of an iteration
  double iterations = 1; // about
};

// What a run may differ in from the one whose saved state it goes on from, and still end with the same bits.
enum class RestartOn {
  nothing,     // it saves no state
  same_ranks,  // threads
  any_ranks,   // threads, ranks and their grid
  any_variant, // these and the variant
};

struct Application {
  std::string_view name, summary;
  std::string_view paper;
  std::string_view sizes; // what --size means: "cells along x, y and z: 128 or 128x96x64"
  std::string_view default_size;
  std::string_view golden_hash; // of the source of the golden copy: tuned choices hold for this one alone
  std::span<const VariantDescription> variants; // the golden copy is the first
  std::span<const std::string_view> methods;    // of the solver, the default first
  std::span<const ApplicationOption> options;
  // Problems that tell which variants are fast at a fraction of the cost, the smallest first. That one also tells how
  // many iterations variants need relative to each other. Null, or empty for a size: a few iterations of the problem
  // itself tell.
  std::vector<ProblemShare> (*shares)(std::string_view size) = nullptr;
  // Iterations of a run that tells the time of an iteration.
  int sample = 6;
  // Variants by how fast they were elsewhere: the first that fits runs where nothing was measured. The others follow.
  std::span<const std::string_view> usual = {};
  // Candidates with the same words share steps of the set-up through Runtime::shared(): they run one after another in
  // each turn. Null: none share any.
  std::string (*shared_set_up)(const RequestedVariant& candidate) = nullptr;
  // Where the solver stops if the user names no limit (1: it does not iterate), and what its residual is.
  std::int64_t most_iterations = 100000;
  std::string_view residual = "relative residual";
  bool has_tolerance = false; // of the residual, at which it stops: --tolerance
  // Whether --variant auto tries the golden copy, too: not one that is thousands of times slower.
  bool golden_may_be_chosen = true;
  std::span<const std::string_view> by_name_only = {}; // variants to compare with, which --variant auto does not try
  bool has_grid = true;                                // that ranks divide: --grid
  // Variants that have the same bits with the option `reproducible`: what --variant auto tries with it. None: all.
  std::span<const std::string_view> reproducible_variants = {};
  // What its saved states allow. Null: it saves none.
  RestartOn (*restart_on)(const ApplicationRequest& request) = nullptr; // not asked of a stateless variant
  std::span<const std::string_view> stateless_variants = {}; // of one that saves states: variants that save none
  // One run with one variant, on all ranks. The result has the fields of docs/applications.md. Errors: those of the
  // request's values; of the run.
  Result<nlohmann::json> (*run)(const ApplicationRequest& request, Runtime& runtime);
};

// The descriptions of an application's variants, made once for each type of rows. The type's base is the description.
template <class Variant>
std::span<const VariantDescription> descriptions(std::span<const Variant> rows) {
  static const std::vector<VariantDescription> all(rows.begin(), rows.end());
  return all;
}

// Error: there is none of this name; it names all.
Result<const Application*> find_application(std::span<const Application> all, std::string_view name);

// What `kumihimo app` and the command line need: everything but the functions.
nlohmann::json to_json(const Application& application);

} // namespace kumihimo::application
