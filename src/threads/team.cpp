#include "threads/team.hpp"

#include <omp.h>
#include <sched.h>

#include <cstdlib>

namespace kumihimo::threads {

Status use(int threads) {
  const int most = omp_get_thread_limit();
  if (threads < 1 || threads > most)
    return wrong_value("the number of threads must be 1 to " + std::to_string(most), threads);
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  return Nothing{};
}

int count() { return omp_get_max_threads(); }

std::vector<int> allowed_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> found;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return found;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &allowed)) found.push_back(i);
  return found;
}

std::string bind(int local_rank, int local_ranks) {
  for (const char* const name : {"OMP_PROC_BIND", "OMP_PLACES"})
    if (std::getenv(name)) return "bound by " + std::string(name);
  const std::vector<int> processors = allowed_processors();
  const int team = count();
  if (processors.empty()) return "not bound: the system does not say which processors are allowed";
  // Ranks that the launcher has bound have their own processors.
  const bool is_shared = static_cast<int>(processors.size()) >= team * local_ranks || local_ranks == 1;
  const int first = is_shared ? local_rank * team : 0;
  std::string places;
  bool all = true;
#pragma omp parallel for ordered schedule(static, 1) num_threads(team)
  for (int i = 0; i < team; ++i) {
    const int processor = processors[static_cast<std::size_t>(first + i) % processors.size()];
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    const bool bound = sched_setaffinity(0, sizeof one, &one) == 0;
#pragma omp ordered
    {
      all = all && bound;
      places += " " + std::to_string(processor);
    }
  }
  if (!all) return "not bound: the system refuses it";
  return std::to_string(team) + (team == 1 ? " thread on processor" : " threads on processors") + places;
}

} // namespace kumihimo::threads
