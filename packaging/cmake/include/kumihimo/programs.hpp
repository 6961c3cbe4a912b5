// Programs of ranks, by hand or from files, and the collectives that they perform: the target kumihimo::programs.
#pragma once

#include "kumihimo/base/datatype.hpp"
#include "kumihimo/base/result.hpp"
#include "kumihimo/export/text.hpp"
#include "kumihimo/halo/halo.hpp"
#include "kumihimo/program/builder.hpp"
#include "kumihimo/program/named_programs.hpp"
#include "kumihimo/program/program.hpp"
#include "kumihimo/program/program_set.hpp"
#include "kumihimo/program_file/program_file.hpp"
#include "kumihimo/schedule/collective.hpp"
#include "kumihimo/schedule/schedule.hpp"
