// Converts the settings of a master for its logic, and errors to exit codes.
#pragma once

#include "common/base/result.h"
#include "master/procedures/core/master_options.h"
#include "master/process/master_config.h"

namespace ratchet::master {

[[nodiscard]] MasterOptions LogicOptions(const MasterConfig& config);

// Exit code of the process after an error of the store, of the activation or of a CHECK.
[[nodiscard]] int ExitCodeFor(const Error& error);

}  // namespace ratchet::master
