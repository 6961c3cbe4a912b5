// Predictions of collectives, programs and graphs of operations on machines: the target kumihimo::predict.
#pragma once

#include "kumihimo/collectives.hpp"
#include "kumihimo/models/model.hpp"
#include "kumihimo/models/prediction.hpp"
#include "kumihimo/models/question.hpp"
#include "kumihimo/network.hpp"
