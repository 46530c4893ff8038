// Makes the lines of a report page on several CPUs.
#pragma once

#include "render/page/archive.hpp"

namespace rocecap {

/// Makes lines on the other CPUs, and on this one while these have enough to do.
page::Encode encode_on_all_cpus();

}  // namespace rocecap
