// Finds the tables of regions by what lies below <root>/data, for edits of regions about which a split's order says
// nothing: those that had left the server before it died.
//
// Owner: one split of one log. All tables are listed once, when the first region is asked for, however many follow.
// That is right for the whole split: what a log has entries of was made before the log was sealed, and its name never
// comes back (S31). Thread-safe.
#pragma once

#include <map>
#include <string>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

class RegionSearch {
 public:
  // `root` outlives the search.
  explicit RegionSearch(io::Directory& root) : root_(root) {}
  // "<namespace>/<table>.<pid>". kNotFound: no table has the region, so its edits are not needed. Any other error: it
  // cannot be told, and is looked for again at the next call.
  [[nodiscard]] Result<std::string> TableOf(const std::string& encoded_name);

 private:
  [[nodiscard]] Status ListTables() REQUIRES(mutex_);

  io::Directory& root_;
  Mutex mutex_;
  bool listed_ GUARDED_BY(mutex_) = false;
  std::map<std::string, std::string> tables_ GUARDED_BY(mutex_);  // by the region's encoded name
};

}  // namespace ratchet::regionserver
