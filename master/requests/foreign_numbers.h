// Rule S114 (no start without the past) while a master runs. Live servers report epochs and pids, and
// hbase:meta holds pids. The store does not know the owner that gave a larger number than its own, so the store is an
// older copy, and so are the names that the start compares it with. Region servers refuse the orders of such a master,
// and it would give numbers a second time.
//
// The functions block for nothing and may be called on any thread.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "master/env/meta_table.h"

namespace ratchet::procedure {
class Executor;
}

namespace ratchet::master {

// kWentBack: `reported` is above `mine`, the epoch of this master. `from` names the server that reports it.
[[nodiscard]] Status CheckReportedEpoch(Epoch mine, Epoch reported, const std::string& from);
// kWentBack: no procedure of this store has had the pid `number`. 0: the reporter knows of none, as in most heartbeats,
// which therefore do not wait for the executor's lock.
[[nodiscard]] Status CheckReportedPid(const procedure::Executor& executor, std::uint64_t number,
                                      const std::string& from);
// The numbers of all rows of hbase:meta: openings, and the directories of tables.
[[nodiscard]] Status CheckNumbersOf(const procedure::Executor& executor, const MetaContents& contents);

}  // namespace ratchet::master
