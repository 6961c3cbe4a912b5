#include "application/checkpoint_options.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace kumihimo::application {

Result<CheckpointOptions> parse_checkpoint_options(const nlohmann::json& given) {
  CheckpointOptions asked;
  asked.every = given.value("every", asked.every);
  asked.every_seconds = given.value("every_seconds", asked.every_seconds);
  asked.folder = given.value("folder", asked.folder);
  asked.partner = given.value("partner", asked.partner);
  asked.spares = given.value("spares", asked.spares);
  asked.lost_rank = given.value("lost_rank", asked.lost_rank);
  asked.lost_at = given.value("lost_at", asked.lost_at);
  asked.restart = given.value("restart", asked.restart);
  if (asked.every < 0) return wrong_value("the iterations between two checkpoints must be at least 1", asked.every);
  if (asked.partner < 0) return wrong_value("the iterations between two copies must be at least 1", asked.partner);
  if (asked.every_seconds < 0) return wrong_value("the time between two checkpoints must be above 0");
  if (asked.saves() && asked.folder.empty()) return missing("the folder of the checkpoints", "give folder=DIR");
  if (asked.spares < 0) return wrong_value("the number of spare ranks must be at least 1", asked.spares);
  if (asked.spares > 0 && asked.partner == 0)
    return missing("a copy in the memory of a partner", "add partner=N beside spare=N");
  if (asked.lost_rank >= 0 && asked.partner == 0)
    return missing("a copy in the memory of a partner", "add partner=N beside lose=RANK@ITERATION");
  return asked;
}

} // namespace kumihimo::application
