#include "threads/team.hpp"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <string>
#include <thread>

namespace kumihimo::threads {

namespace {

// The core of a processor, by its hardware threads; empty: unknown.
std::string core_of(int processor) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/topology/thread_siblings_list");
  std::string siblings;
  std::getline(file, siblings);
  return siblings;
}

std::vector<int> find_allowed() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> found;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return found;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &allowed)) found.push_back(i);
  std::map<std::string, int> met;
  std::vector<int> turn(CPU_SETSIZE); // 0: the first thread of its core
  for (const int processor : found)
    if (const std::string core = core_of(processor); !core.empty())
      turn[static_cast<std::size_t>(processor)] = met[core]++;
  std::stable_sort(found.begin(), found.end(),
                   [&](int a, int b) { return turn[static_cast<std::size_t>(a)] < turn[static_cast<std::size_t>(b)]; });
  return found;
}

} // namespace

Status use(int threads) {
  // Far more than processors only wait for each other, and OpenMP aborts where the system has no memory for them.
  constexpr int for_a_processor = 64, at_least = 1024;
  const int most = std::min(omp_get_thread_limit(), std::max(at_least, for_a_processor * omp_get_num_procs()));
  if (threads < 1 || threads > most)
    return wrong_value("the number of threads must be 1 to " + std::to_string(most), threads);
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  return Nothing{};
}

int count() { return omp_get_max_threads(); }

TeamSize::TeamSize(int threads) : threads_before_(count()), dynamic_before_(omp_get_dynamic()) {
  if (!use(threads)) omp_set_num_threads(1);
}

TeamSize::~TeamSize() {
  omp_set_num_threads(threads_before_);
  omp_set_dynamic(dynamic_before_);
}

const std::vector<int>& allowed_processors() {
  static const std::vector<int> found = find_allowed();
  return found;
}

std::string bind(int local_rank) {
  for (const char* const name : {"OMP_PROC_BIND", "OMP_PLACES"})
    if (std::getenv(name)) return "bound by " + std::string(name);
  const std::vector<int>& processors = allowed_processors();
  const int team = count();
  if (processors.empty()) return "not bound: the system does not say which processors are allowed";
  const int first = local_rank * team;
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

void unbind() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const int processor : allowed_processors()) CPU_SET(processor, &all);
  if (!allowed_processors().empty()) sched_setaffinity(0, sizeof all, &all); // if refused, it stays bound
}

void run_apart(int team, const std::function<void()>& work) {
  std::exception_ptr failure;
  std::thread apart([&] {
    unbind();
    omp_set_num_threads(team);
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  apart.join();
  if (failure) std::rethrow_exception(failure);
}

} // namespace kumihimo::threads
