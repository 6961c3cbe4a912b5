// What a task of a graph does.
#pragma once

#include "base/result.hpp"
#include "tasks/task_graph.hpp"

#include <functional>

namespace kumihimo::tasks {

// Runs a task on a thread of the run. Called by several threads at once. After an error no other task begins.
using TaskWork = std::function<Status(TaskId task, int thread)>;

} // namespace kumihimo::tasks
