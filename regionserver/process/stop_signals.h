// SIGTERM and SIGINT (common/base/stop_signals.h), under this folder's name.
#pragma once

#include "common/base/stop_signals.h"

namespace ratchet::regionserver {

using ratchet::StopSignals;

}  // namespace ratchet::regionserver
