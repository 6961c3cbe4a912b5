#include "mpi_job/printed_lines.hpp"

#include "base/json_text.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace kumihimo::mpi_job {

void write_line(const nlohmann::json& object) {
  std::puts(text_of_json(object).c_str());
  std::fflush(stdout);
}

nlohmann::json to_json(const Error& error) {
  const char* kinds[] = {"bad_input", "not_applicable", "failed"};
  return {{"error",
           {{"kind", kinds[static_cast<int>(error.kind)]},
            {"problem", error.problem},
            {"advice", error.advice},
            {"elsewhere", error.elsewhere}}}};
}

} // namespace kumihimo::mpi_job
