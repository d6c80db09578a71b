// `ratchet-master --replay DIR`: whether this program would go on with every procedure of a store.
#pragma once

#include <string>

#include "common/base/result.h"
#include "procedure/record_replay.h"

namespace ratchet::master {

enum class ReplayFormat { kText, kJson };

// The store of a cluster's root directory, or the directory of a store itself. It may be in use: nothing is changed.
// An error: it cannot be read, or it is damaged, so that what it holds is not known.
[[nodiscard]] Result<procedure::ReplayReport> ReplayStore(const std::string& path);
// Ends with a newline. JSON: one object.
[[nodiscard]] std::string ToText(const procedure::ReplayReport& report, ReplayFormat format);

}  // namespace ratchet::master
