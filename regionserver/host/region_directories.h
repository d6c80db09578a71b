// The directories of regions below <root>/data: opens one, or finds the table of a region by them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

// Opens the directory of a region. `table_dir` is "<namespace>/<table>.<pid>". kInvalidArgument: it is none. The handle
// is a light one, because this server may have very many regions.
[[nodiscard]] Result<std::unique_ptr<io::Directory>> OpenRegionDirectory(io::Directory& root,
                                                                         const std::string& table_dir,
                                                                         const std::string& encoded_name);

// Finds the tables of regions. A split of a log needs it for regions that its order does not list, because they had
// left the server before it died.
//
// Owner: one split of one log. All tables are listed once, at the first region. The list is valid for the whole split:
// a region with entries in a log was made before the log was sealed, and names are never reused (S31: names are never
// reused). Thread-safe.
class RegionSearch {
 public:
  // `root` outlives the search.
  explicit RegionSearch(io::Directory& root) : root_(root) {}
  // Returns "<namespace>/<table>.<pid>". kNotFound: no table has the region, so its edits are not needed. After any
  // other error the table is unknown, and the next call looks again.
  [[nodiscard]] Result<std::string> TableOf(const std::string& encoded_name);

 private:
  [[nodiscard]] Status ListTables() REQUIRES(mutex_);

  io::Directory& root_;
  Mutex mutex_;
  bool listed_ GUARDED_BY(mutex_) = false;
  std::map<std::string, std::string> tables_ GUARDED_BY(mutex_);  // by the region's encoded name
};

}  // namespace ratchet::regionserver
