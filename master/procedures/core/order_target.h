// Server whose answer a procedure awaits, from the procedure's durable data.
#pragma once

#include <optional>
#include <string>

#include "procedure/api/views.h"

namespace ratchet::master {

// Returns the server ("host,port,startcode") from which an order procedure still waits for an answer; nullopt if the
// procedure is not an order or has its answer.
[[nodiscard]] std::optional<std::string> OrderTarget(const procedure::ProcedureInfo& info);

}  // namespace ratchet::master
