// What holds procedures up that no procedure shows: a full disk below the procedure store, workers that are held by
// steps which do not end. Problems of a status, and marks of an answer that is made meanwhile.
#pragma once

#include <string>
#include <vector>

#include "procedure/executor.h"
#include "procedure/store/procedure_store.h"

namespace ratchet::host {

[[nodiscard]] std::vector<std::string> HeldUp(const procedure::Executor& executor, procedure::ProcedureStore& store);

}  // namespace ratchet::host
