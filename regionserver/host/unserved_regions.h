// Regions that are open here and refuse every request, because their mark is missing or cannot be looked up (S120:
// unserved region is reported).
//
// A refused request reports the region. A periodic check of the marks of all open regions, some at a time, finds
// regions without requests. The master gets their number and one cause, and shows them. A mark that is gone without a
// higher opening does not return: after kPatience the process ends, its log is split, and the region opens elsewhere.
// Other errors (the directory is missing, the storage returns an error) may pass, so they are only shown.
//
// Owner: the region host. Thread-safe. Only Look uses the storage.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/model/proto/region_server_status.pb.h"

namespace ratchet::regionserver {

class Region;

class UnservedRegions {
 public:
  static constexpr Millis kPatience{5'000};
  static constexpr std::size_t kLooksAtOnce = 1'000;

  // Records that a request was refused, or that a check failed. Logs one line for each new region.
  void Note(const std::string& encoded_name, const Error& why, TimePoint now);
  // Checks the marks of the next regions of `open` and of all known ones; forgets regions that are served again or have
  // left. Returns why the process must end.
  [[nodiscard]] std::optional<std::string> Look(const std::vector<std::shared_ptr<Region>>& open, TimePoint now);
  void Fill(hbase::pb::StorageReport& report) const;

 private:
  struct Refusal {
    TimePoint since{};
    Error why;
  };
  [[nodiscard]] bool IsKnown(const std::string& encoded_name) const;

  mutable Mutex mutex_;
  std::map<std::string, Refusal> refusals_ GUARDED_BY(mutex_);  // by encoded name
  // the last region that was checked; used by the checking thread
  std::string last_;
};

}  // namespace ratchet::regionserver
