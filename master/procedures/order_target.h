// What a procedure's durable data says of the order that it has given.
#pragma once

#include <optional>
#include <string>

#include "procedure/record/inspect.h"

namespace ratchet::master {

// The server ("host,port,startcode") from which an order procedure still waits for an answer; nothing: the procedure is
// no order, or the answer is there.
[[nodiscard]] std::optional<std::string> OrderTarget(const procedure::ProcedureInfo& info);

}  // namespace ratchet::master
