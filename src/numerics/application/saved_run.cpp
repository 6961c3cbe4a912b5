#include "application/saved_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

namespace kumihimo::application {
namespace {

using nlohmann::json;
using saved_state::ArrayPlace, saved_state::ArrayShape, saved_state::Generation, saved_state::SavedArray,
    saved_state::StateStore;

constexpr const char* about_name = "about";
constexpr std::size_t most_candidates = 2; // whole generations of a rank

// Of a state in a file.
struct SavedAbout {
  std::int64_t iteration = 0;
  double launch = 0;
  std::int32_t ranks = 0;
  json text;
};

std::optional<SavedAbout> about_of(const StateStore& store, const Generation& generation) {
  const auto shape = std::ranges::find(generation.arrays, about_name, &ArrayShape::name);
  if (shape == generation.arrays.end()) return std::nullopt;
  std::string text(static_cast<std::size_t>(shape->bytes), '\0');
  const ArrayPlace place{about_name, std::as_writable_bytes(std::span(text))};
  if (!store.load(generation.number, std::span(&place, 1))) return std::nullopt;
  json found = json::parse(text, nullptr, false);
  if (!found.is_object()) return std::nullopt;
  try {
    SavedAbout about{generation.number, found.at("launch").get<double>(), found.at("ranks").get<std::int32_t>(), {}};
    about.text = std::move(found);
    return about;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

// Of a rank's two files, the newest first.
std::vector<SavedAbout> abouts_of(const std::string& folder, const std::string& application, std::int32_t rank) {
  std::vector<SavedAbout> found;
  const Result<StateStore> store = StateStore::open(folder, application, rank);
  if (!store) return found;
  for (const Generation& each : store->whole_generations())
    if (std::optional<SavedAbout> about = about_of(*store, each)) found.insert(found.begin(), std::move(*about));
  return found;
}

// Of which applications the folder holds files of rank 0.
std::set<std::string> applications_in(const std::string& folder) {
  std::set<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    for (const std::string_view end : {"-0.0", "-0.1"})
      if (name.ends_with(end)) found.insert(name.substr(0, name.size() - end.size()));
  }
  return found;
}

Error no_state(const std::string& folder, const std::string& application) {
  const std::set<std::string> others = applications_in(folder);
  const std::string rule = fmt::format("{} must hold a whole state of {}", folder, application);
  if (others.empty() || others.contains(application))
    return wrong_value(rule, others.empty() ? "no state" : "none that is whole", "leave --restart out to begin anew");
  return wrong_value(rule, fmt::format("one of {}", fmt::join(others, ", ")), "name another folder");
}

std::string word_of(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

Status check_words(const std::string& folder, const json& saved, const json& asked, const std::string& advice) {
  std::set<std::string> names;
  for (const json* const each : {&saved, &asked})
    for (const auto& [name, value] : each->items()) names.insert(name);
  for (const std::string& name : names) {
    const json was = saved.value(name, json()), is = asked.value(name, json());
    if (was == is) continue;
    if (was.is_null()) return wrong_value(fmt::format("the state in {} has no {}", folder, name), word_of(is), advice);
    return wrong_value(fmt::format("the state in {} is of {} {}", folder, name, word_of(was)),
                       is.is_null() ? "none" : word_of(is), advice);
  }
  return Nothing{};
}

Status check_identity(const std::string& folder, const json& saved, const RunIdentity& identity) {
  const std::string same = "restart with the options that it was saved with";
  const auto words = [&](const char* name) { return saved.value(name, json::object()); };
  if (Status s = check_words(folder, words("of_problem"), *identity.of_problem, same); !s) return s;
  if (identity.restart_on == RestartOn::any_variant) return Nothing{};
  if (Status s = check_words(folder, words("of_variant"), *identity.of_variant, same); !s) return s;
  if (identity.restart_on == RestartOn::any_ranks) return Nothing{};
  return check_words(folder, words("of_ranks"), *identity.of_ranks,
                     fmt::format("the bits of {} depend on it", identity.application));
}

Error lacks(const StatePart& part, const std::string& folder) {
  return failed(fmt::format("the state in {} has no {}", folder, part.name), {}, "leave --restart out to begin anew");
}

} // namespace

Result<std::unique_ptr<StateWriter>> StateWriter::open(const std::string& folder, const RunIdentity& identity,
                                                       bool restarts, Processes& processes) {
  Result<StateStore> store = StateStore::open(folder, identity.application, processes.rank());
  if (Status s = processes.agree_on(store); !s) return s.error();
  Status is_free = Nothing{};
  if (const std::vector<Generation> there = restarts ? std::vector<Generation>() : store->whole_generations();
      !there.empty())
    is_free = wrong_value(fmt::format("{} must hold no state of {}", folder, identity.application),
                          fmt::format("one of iteration {}", there.back().number),
                          fmt::format("add --restart {} to go on from it, or remove it", folder));
  if (Status s = processes.agree(is_free); !s) return s.error();
  std::unique_ptr<StateWriter> made(new StateWriter(std::move(*store), identity, processes));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  made->launch_ = processes.largest({processes.rank() == 0 ? static_cast<double>(microseconds) : 0})[0];
  return made;
}

Result<std::int64_t> StateWriter::save(std::int64_t iteration, const StateList& list) {
  json about = {{"application", identity_.application},
                {"iteration", iteration},
                {"launch", launch_},
                {"ranks", processes_.ranks()},
                {"of_problem", *identity_.of_problem},
                {"of_variant", *identity_.of_variant},
                {"of_ranks", *identity_.of_ranks}};
  for (const StatePart& part : list.parts())
    if (part.grid) about["grid"] = part.grid->ranks;
  const std::string text = about.dump();
  std::vector<std::vector<std::byte>> packed;
  packed.reserve(list.parts().size());
  std::vector<SavedArray> arrays{{about_name, std::as_bytes(std::span(text))}};
  for (const StatePart& part : list.parts()) {
    if (part.pack) packed.push_back(part.pack());
    arrays.push_back({part.name, part.pack ? std::span<const std::byte>(packed.back()) : part.bytes});
  }
  const Status saved = store_.save(iteration, arrays);
  if (Status s = processes_.agree(saved); !s) return s.error(); // no rank begins the next one before
  std::int64_t bytes = 0;
  for (const SavedArray& each : arrays) bytes += static_cast<std::int64_t>(each.bytes.size());
  return bytes;
}

Result<std::unique_ptr<SavedRun>> SavedRun::find(const std::string& folder, const RunIdentity& identity,
                                                 Processes& processes) {
  const std::int32_t rank = processes.rank();
  if (Status s = processes.agree_on(StateStore::open(folder, identity.application, rank)); !s) return s.error();
  const std::vector<SavedAbout> of_0 =
      rank == 0 ? abouts_of(folder, identity.application, 0) : std::vector<SavedAbout>();
  std::vector<double> numbers(3 * most_candidates, 0.0);
  for (std::size_t i = 0; i < of_0.size(); ++i) {
    numbers[3 * i] = of_0[i].ranks;
    numbers[3 * i + 1] = static_cast<double>(of_0[i].iteration);
    numbers[3 * i + 2] = of_0[i].launch;
  }
  numbers = processes.largest(numbers);
  if (numbers[0] == 0) {
    const Status none = rank == 0 ? Status(no_state(folder, identity.application)) : Status(Nothing{});
    return processes.agree(none).error();
  }
  std::unique_ptr<SavedRun> found(new SavedRun(folder, identity, processes));
  for (std::size_t i = 0; i < most_candidates && numbers[3 * i] > 0; ++i) {
    found->ranks_ = static_cast<std::int32_t>(numbers[3 * i]);
    found->iteration_ = static_cast<std::int64_t>(numbers[3 * i + 1]);
    double missing_files = 0;
    for (std::int32_t file = rank; file < found->ranks_; file += processes.ranks()) {
      const std::vector<SavedAbout> there = abouts_of(folder, identity.application, file);
      missing_files += std::ranges::none_of(there, [&](const SavedAbout& each) {
        return each.iteration == found->iteration_ && each.launch == numbers[3 * i + 2];
      });
    }
    if (processes.largest({missing_files})[0] != 0) continue;
    const Status fits = rank == 0 ? check_identity(folder, of_0[i].text, identity) : Status(Nothing{});
    if (Status s = processes.agree(fits); !s) return s.error();
    return found;
  }
  return failed(fmt::format("no state in {} is whole on all of its {} ranks", folder, found->ranks_), {},
                "leave --restart out to begin anew");
}

RankGrid SavedRun::grid_of(const Arrays& arrays) const {
  const std::vector<std::byte>& text = arrays.at(about_name);
  const json about = json::parse(std::string(reinterpret_cast<const char*>(text.data()), text.size()));
  return {about.value("grid", std::array<std::int32_t, 3>{1, 1, ranks_})};
}

Result<SavedRun::Arrays> SavedRun::arrays_of(std::int32_t rank) const {
  const StateStore store = TRY(StateStore::open(folder_, identity_.application, rank));
  Arrays found;
  std::vector<ArrayPlace> places;
  for (const Generation& each : store.whole_generations())
    if (each.number == iteration_)
      for (const ArrayShape& shape : each.arrays) {
        std::vector<std::byte>& bytes = found[shape.name];
        bytes.resize(static_cast<std::size_t>(shape.bytes));
        places.push_back({shape.name, bytes});
      }
  if (Status s = store.load(iteration_, places); !s) return s.error();
  return found;
}

Status SavedRun::load(const StateList& list) const { return processes_.agree(load_alone(list)); }

Status SavedRun::load_alone(const StateList& list) const {
  if (ranks_ != processes_.ranks()) return load_of_other_ranks(list);
  const Arrays arrays = TRY(arrays_of(processes_.rank()));
  for (const StatePart& part : list.parts())
    if (part.grid && grid_of(arrays).ranks != part.grid->ranks) return load_of_other_ranks(list);
  for (const StatePart& part : list.parts()) {
    const auto at = arrays.find(part.name);
    if (at == arrays.end()) return lacks(part, folder_);
    if (Status s = part.take(at->second); !s) return s;
  }
  return Nothing{};
}

// Cells come from the files of all ranks whose boxes share some with this rank's, all else from those of rank 0: where
// bits do not depend on the ranks, all have the same.
Status SavedRun::load_of_other_ranks(const StateList& list) const {
  const Arrays of_0 = TRY(arrays_of(0));
  const RankGrid ranks = grid_of(of_0);
  for (std::int32_t rank = 0; rank < ranks_; ++rank) {
    std::optional<Arrays> own;
    for (const StatePart& part : list.parts()) {
      if (!part.grid) {
        const auto at = of_0.find(part.name);
        if (at == of_0.end()) return lacks(part, folder_);
        if (rank == 0)
          if (Status s = part.take(at->second); !s) return s;
        continue;
      }
      const auto box = ranks.part(part.grid->cells, rank);
      std::array<std::int64_t, 3> begin{}, size{};
      bool shares_cells = true;
      std::int64_t bytes = part.grid->element_bytes;
      for (std::size_t a = 0; a < 3; ++a) {
        begin[a] = box[a].begin, size[a] = box[a].size(), bytes *= size[a];
        shares_cells = shares_cells && begin[a] < part.grid->begin[a] + part.grid->size[a] &&
                       part.grid->begin[a] < begin[a] + size[a];
      }
      if (!shares_cells) continue;
      if (!own) own = TRY(arrays_of(rank));
      const auto at = own->find(part.name);
      if (at == own->end() || static_cast<std::int64_t>(at->second.size()) != bytes) return lacks(part, folder_);
      copy_shared_cells(begin, size, at->second, *part.grid);
    }
  }
  return Nothing{};
}

} // namespace kumihimo::application
