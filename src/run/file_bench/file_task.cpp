#include "file_bench/file_task.hpp"

#include "file_bench/data_phases.hpp"
#include "file_bench/item_phases.hpp"
#include "file_bench/page_cache.hpp"
#include "file_bench/state_phases.hpp"
#include "file_bench/work_folder.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace kumihimo::file_bench {
namespace {

using mpi_job::MpiJob;
using nlohmann::json;

// The ranks of the first node, if there are several; else 1.
std::int32_t shift_of_a_node(const MpiJob& job) {
  if (!job.nodes().are_several()) return 1;
  const std::vector<std::int64_t>& nodes = job.nodes().node_of_rank;
  return static_cast<std::int32_t>(std::count(nodes.begin(), nodes.end(), nodes[0]));
}

class FileTask {
 public:
  explicit FileTask(MpiJob& job) : job_(job) {}

  Status read(json given) {
    const std::int32_t shift = shift_of_a_node(job_);
    for (const char* kind : {"data", "items"})
      for (json& each : given[kind])
        if (each.value("shift", 0) == -1) each["shift"] = shift;
    for (const json& each : given["data"]) {
      DataCase c = TRY(parse_data_case(each));
      data_[c.name] = std::move(c);
    }
    for (const json& each : given["items"]) {
      ItemCase c = TRY(parse_item_case(each));
      items_[c.name] = std::move(c);
    }
    steps_ = given.at("steps");
    parent_ = given.value("folder", "");
    existing_ = given.value("existing", "");
    return Nothing{};
  }

  Status run() {
    folder_ = existing_;
    if (existing_.empty()) folder_ = TRY(make_work_folder(job_, parent_));
    job_.print(json{{"folder", folder_}, {"in_memory", is_in_memory(folder_)}});
    for (std::size_t number = 0; number < steps_.size(); ++number) {
      Result<json> result = run_step(steps_[number]);
      if (!result && result.error().kind == Error::Kind::not_applicable && steps_[number].value("may_fail", false))
        result = json{{"missing", result.error().sentence()}};
      if (!result) return result.error();
      (*result)["step"] = number;
      (*result)["do"] = steps_[number].at("do");
      job_.print(*result);
    }
    return existing_.empty() ? remove_work_folder(job_, folder_) : Status(Nothing{});
  }

 private:
  Result<json> run_step(const json& step) {
    const auto what = step.at("do").get<std::string>();
    if (step.contains("items")) return run_item_phase(job_, folder_, items_.at(step["items"]), what);
    if (step.contains("state")) {
      const StateCase c = TRY(parse_state_case(step["state"]));
      return run_state_phase(job_, folder_, c, what);
    }
    if (what == "find") return find_items(job_, folder_, step.at("part"), step.at("bytes"));
    if (what == "roof") return measure_roof(job_, folder_, {step.at("bytes"), step.at("transfer")});
    DataCase& c = data_.at(step.at("data"));
    if (what == "write") return write_data(job_, folder_, c);
    if (what == "read") return read_data(job_, folder_, c);
    if (what == "remove") return remove_data(job_, folder_, c);
    return wrong_value("a step must be one of file_bench/file_task.hpp", "'" + what + "'");
  }

  MpiJob& job_;
  std::map<std::string, DataCase> data_;
  std::map<std::string, ItemCase> items_;
  json steps_;
  std::string parent_, existing_, folder_;
};

} // namespace

// The text is the same on all ranks: what is wrong with it all of them find.
Status run_file_task(MpiJob& job, const std::string& text) {
  try {
    FileTask task(job);
    if (Status s = task.read(json::parse(text)); !s) return s;
    return task.run();
  } catch (const json::exception& e) {
    return failed("the task of files is not readable", e.what());
  } catch (const std::out_of_range&) {
    return failed("a step of the task names data or items that it does not have");
  }
}

} // namespace kumihimo::file_bench
