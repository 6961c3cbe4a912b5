#include "application/application.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <vector>

namespace kumihimo::application {

using nlohmann::json;

Result<const Application*> find_application(std::span<const Application> all, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Application& each : all) {
    if (each.name == name) return &each;
    names.push_back(each.name);
  }
  return wrong_value(fmt::format("an application is one of {}", fmt::join(names, ", ")), fmt::format("'{}'", name));
}

namespace {

// Of the variants: a choice between them holds for one compiler.
constexpr std::string_view compiler =
#if defined(__clang__)
    "Clang " __clang_version__;
#elif defined(__GNUC__)
    "GCC " __VERSION__;
#else
    "another compiler";
#endif

json to_json(const VariantDescription& variant) {
  json parameters = json::array();
  for (const TakenParameter& taken : variant.parameters)
    parameters.push_back({{"name", taken.parameter->name},
                          {"meaning", taken.parameter->meaning},
                          {"symbol", taken.parameter->symbol},
                          {"min", taken.parameter->min},
                          {"max", taken.parameter->max},
                          {"values", tuning_values(taken)},
                          {"of_ranks", taken.parameter->of_ranks}});
  return {{"name", variant.name}, {"summary", variant.summary}, {"parameters", std::move(parameters)}};
}

} // namespace

json to_json(const Application& application) {
  json variants = json::array(), options = json::array();
  for (const VariantDescription& variant : application.variants) variants.push_back(to_json(variant));
  for (const ApplicationOption& option : application.options)
    options.push_back({{"name", option.name},
                       {"meaning", option.meaning},
                       {"symbol", option.symbol},
                       {"default", option.default_value},
                       {"choices", std::vector<std::string_view>(option.choices.begin(), option.choices.end())},
                       {"replaces_size", option.replaces_size}});
  return {
      {"name", application.name},
      {"summary", application.summary},
      {"paper", application.paper},
      {"sizes", application.sizes},
      {"default_size", application.default_size},
      {"golden_hash", application.golden_hash},
      {"compiler", compiler},
      {"most_iterations", application.most_iterations},
      {"residual", application.residual},
      {"has_tolerance", application.has_tolerance},
      {"golden_may_be_chosen", application.golden_may_be_chosen},
      {"by_name_only", std::vector<std::string_view>(application.by_name_only.begin(), application.by_name_only.end())},
      {"has_grid", application.has_grid},
      {"saves_state", application.restart_on != nullptr},
      {"stateless_variants",
       std::vector<std::string_view>(application.stateless_variants.begin(), application.stateless_variants.end())},
      {"sample", application.sample},
      {"usual", std::vector<std::string_view>(application.usual.begin(), application.usual.end())},
      {"reproducible_variants", std::vector<std::string_view>(application.reproducible_variants.begin(),
                                                              application.reproducible_variants.end())},
      {"methods", std::vector<std::string_view>(application.methods.begin(), application.methods.end())},
      {"variants", std::move(variants)},
      {"options", std::move(options)}};
}

} // namespace kumihimo::application
