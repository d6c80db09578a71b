// Reasons for delays that no procedure shows: a full disk below the procedure store, and workers that are blocked in
// steps that do not end. Shown as problems of a status, and added to answers that are made meanwhile.
#pragma once

#include <string>
#include <vector>

#include "procedure/api/executor.h"
#include "procedure/api/store.h"

namespace ratchet::host {

[[nodiscard]] std::vector<std::string> HeldUp(const procedure::Executor& executor, procedure::ProcedureStore& store);

}  // namespace ratchet::host
