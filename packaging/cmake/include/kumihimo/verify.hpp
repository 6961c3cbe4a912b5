// Proofs of programs and schedules: the target kumihimo::verify.
#pragma once

#include "kumihimo/programs.hpp"
#include "kumihimo/verify/post_condition.hpp"
#include "kumihimo/verify/report.hpp"
#include "kumihimo/verify/verify.hpp"
