// AutoSplitter: splits regions that have grown (split_policy.h), by the sizes that region servers report.
//
// A report only triggers the check: the decision uses the master's in-memory state, and the procedure checks again
// under its locks. At most `at_once` of its splits run at a time. It submits no split while a dead server is being
// recovered or splits are switched off. A region whose split has failed is left alone for a while. Each split is an
// ordinary procedure; splits that a dead master did not submit follow from the next report. Thread-safe; never blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"
#include "common/model/table_name.h"
#include "master/procedures/core/master_options.h"
#include "master/requests/table_admin.h"
#include "master/telemetry/region_sizes.h"

namespace ratchet::master {

struct MasterEnv;

class AutoSplitter {
 public:
  AutoSplitter(MasterEnv& env, TableAdmin& tables, const AutoSplitOptions& options)
      : env_(env), tables_(tables), options_(options) {}

  using Size = RegionSize;
  // Returns true if `Look` should be called with the sizes of all regions of the server: once in each interval.
  [[nodiscard]] bool IsDue(const ServerName& server);
  // Returns the number of splits that were submitted.
  std::size_t Look(const ServerName& server, std::vector<Size> sizes);

 private:
  [[nodiscard]] bool MayTry(const std::string& region);
  void Ask(const std::string& region, const std::string& why);
  void Ended(const std::string& region, bool failed);

  MasterEnv& env_;
  TableAdmin& tables_;
  const AutoSplitOptions options_;
  Mutex mutex_;
  std::map<ServerName, TimePoint> next_look_ GUARDED_BY(mutex_);
  std::set<std::string> under_way_ GUARDED_BY(mutex_);              // regions whose splits have not ended
  std::map<std::string, TimePoint> not_before_ GUARDED_BY(mutex_);  // regions whose split failed; bounded
};

}  // namespace ratchet::master
