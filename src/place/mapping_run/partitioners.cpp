#include "mapping_run/partitioners.hpp"

#include "mapping_run/metis.hpp"
#include "mapping_run/scotch.hpp"

namespace kumihimo::mapping_run {

std::vector<std::unique_ptr<mapping::Partitioner>> open_partitioners() {
  std::vector<std::unique_ptr<mapping::Partitioner>> all;
  for (const auto& open : {open_scotch, open_metis})
    if (std::unique_ptr<mapping::Partitioner> each = open()) all.push_back(std::move(each));
  return all;
}

} // namespace kumihimo::mapping_run
