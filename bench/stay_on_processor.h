/* A rank stays on one processor: launches in which two ranks share one, or change places, are many times slower. */
#pragma once
#include <sched.h>

static void stay_on_processor(int rank) {
  cpu_set_t all, mine;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  int skip = rank % CPU_COUNT(&all), processor = 0;
  while (!CPU_ISSET(processor, &all) || skip-- > 0) ++processor;
  CPU_ZERO(&mine);
  CPU_SET(processor, &mine);
  sched_setaffinity(0, sizeof mine, &mine);
}
