// Compaction of a whole table: asks the server of each region, again where a region has moved before it was done.
//
// One thread. A region that was split or merged meanwhile counts as done: what took its place is not asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/client/connection.h"
#include "common/model/server_name.h"
#include "common/model/table_name.h"

namespace ratchet::client {

class TableCompaction {
 public:
  // `major`: all files of each region become one. `timeout`: of one request.
  TableCompaction(Connection& connection, TableName table, bool major, Millis timeout);

  struct Progress {
    std::size_t done = 0;
    std::size_t total = 0;
    // Regions that no server answers for, or that a server has passed over, with the server: their compactions are
    // switched off there. They are asked again with the next look.
    std::vector<std::string> passed_over;
    std::string last_error;  // why a server could not be asked; empty: all could
  };
  // The first one asks for every region. TableNotFoundException.
  [[nodiscard]] Result<Progress> Look();

 private:
  struct Pending {
    ServerName asked;                // empty: not yet
    std::uint64_t major_before = 0;  // when the last major compaction was, as the server told
  };
  struct Load {
    std::uint64_t major = 0;
    std::uint64_t files = 0;
  };
  [[nodiscard]] Status Ask(const RegionLocation& location, Pending& pending);
  // False: it goes on, or waits for its turn. `passed_over`: it does neither, and has not been done.
  [[nodiscard]] Result<bool> IsDone(const RegionLocation& location, const Pending& pending, bool& passed_over);
  [[nodiscard]] Result<Load> LoadOf(const RegionLocation& location);

  Connection& connection_;
  const TableName table_;
  const bool major_;
  const Millis timeout_;
  bool begun_ = false;
  std::size_t total_ = 0;
  std::map<std::string, Pending> pending_;  // by encoded name
};

}  // namespace ratchet::client
