// `ratchet-master --replay DIR`: checks whether this program can resume every procedure of a store.
#pragma once

#include <string>

#include "common/base/result.h"
#include "procedure/api/offline_store.h"

namespace ratchet::master {

enum class ReplayFormat { kText, kJson };

// The store of a cluster's root directory, or the directory of a store itself. It may be in use, because nothing is
// changed. Error: it cannot be read, or is damaged, so its content is unknown.
[[nodiscard]] Result<procedure::ReplayReport> ReplayStore(const std::string& path);
// The text ends with a newline; JSON is one object.
[[nodiscard]] std::string ToText(const procedure::ReplayReport& report, ReplayFormat format);

}  // namespace ratchet::master
