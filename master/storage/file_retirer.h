// The first stage of the cleaner (rule S32: two-stage cleaner): moves unneeded files to archive/<epoch>/files/<path
// below root>. The files' owners have marked them as unneeded (retirement.h); the retirer follows these marks only for
// servers without a crash procedure. The epoch CHECK precedes each move (S31: names are never reused). Each move is
// durable, the archive first.
//
// A late move by a master that was deposed or paused is harmless: an owner's mark stays valid, and a splitter that
// misses a log finds its mark.
//
// Not thread-safe: one chore runs it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/io/disk.h"
#include "common/model/server_name.h"

namespace ratchet::master {

class FileRetirer {
 public:
  struct Deps {
    io::Directory& wals;     // <root>/wals
    io::Directory& data;     // <root>/data
    io::Directory& archive;  // <root>/archive
    Epoch epoch;
    std::function<Status()> check;                           // the epoch CHECK
    std::function<bool(const ServerName& server)> is_alive;  // registered here, without a crash procedure
    // Maximum number of table and region directories that one run lists; at least 2. The next run continues after them.
    std::size_t most_listings = 5'000;
  };
  // The objects in `deps` must outlive the retirer.
  explicit FileRetirer(Deps deps) : deps_(std::move(deps)) {}

  // Checks all logs, and as many regions as one run may list. Returns the moved files, as paths below <root>. After an
  // error the next run does the rest, and continues after the region with the error.
  [[nodiscard]] Result<std::vector<std::string>> RunOnce();

 private:
  struct Move {
    std::string name;
    std::string as;
  };
  Status RetireLogs(std::vector<std::string>* moved);
  Status RetireLogsOf(const ServerName& server, std::vector<std::string>* moved);
  Status RetireRegions(std::vector<std::string>* moved);
  Status RetireRegionFiles(const std::string& path, std::vector<std::string>* moved);
  Status MoveAll(io::Directory& source, const std::string& path, const std::vector<Move>& moves,
                 const std::function<bool()>& go_on, std::vector<std::string>* moved);

  const Deps deps_;
  struct Place {
    std::string name_space;
    std::string table;
    std::string region;
  };
  Place next_;  // where the next run begins; empty: at the start
};

}  // namespace ratchet::master
