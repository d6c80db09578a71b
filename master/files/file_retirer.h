// The first stage of the cleaner (rule S32): moves what is not needed any more from where it lives to
// archive/<epoch>/files/<path below root>. What is not needed, the files' owners have said (retirement.h); here it is
// believed, for servers without a crash procedure only. Each move is preceded by the epoch CHECK (S31) and durable, the
// archive first.
//
// A move that comes too late, by a master that was deposed or paused in the middle of it, harms nothing: what an owner
// has said stays true, and a splitter that misses a log finds its mark.
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
    // Directories of tables and regions that one run lists at most; at least 2. The next run goes on where this one
    // ends.
    std::size_t most_listings = 5'000;
  };
  // What `deps` refers to must outlive the retirer.
  explicit FileRetirer(Deps deps) : deps_(std::move(deps)) {}

  // A walk over all logs, and over as many regions as one run may list. Returns what was moved, as paths below <root>.
  // After an error the rest is left for the next run, which goes on behind the region with the error.
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
