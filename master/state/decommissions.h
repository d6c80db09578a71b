// Decommissions: which servers are decommissioned (HBase's draining servers), so that placement gives them no region
// while another server can have it.
//
// A mark is of an address: it holds for every later server at the same host and port, until it is taken back. The
// procedure store has a system record for each; memory shows what the record says, and only the procedure that has the
// lock of the address changes either. Part of ServerDirectory. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/mutex.h"
#include "common/model/server_name.h"

namespace ratchet::master {

// The system record "decommissioned/<host>,<port>" has the name of the server that was there when it was marked.
inline constexpr std::string_view kDecommissionRecordPrefix = "decommissioned/";

class Decommissions {
 public:
  // ---- views ----
  // The server is marked, or is about to be: nothing is to be moved to it.
  [[nodiscard]] bool Has(const ServerName& server) const;
  // By record; a mark that is only reserved is not among them. Each with the server that was marked.
  [[nodiscard]] std::vector<ServerName> Marked() const;
  [[nodiscard]] bool IsMarked(const ServerName& server) const;
  // Marked or reserved.
  [[nodiscard]] std::size_t size() const;
  // A procedure has drained the server, and wants it to stop: each answer to a heartbeat says so.
  [[nodiscard]] bool IsToStop(const ServerName& server) const;

  // ---- changes ----
  // Counted as marked from now on, before there is a record. Set ends it.
  void Reserve(const ServerName& server);
  // What the record of the server's address says; empty: there is none.
  void Set(const ServerName& server, const std::string& record);
  void SetToStop(const ServerName& server, bool stops);

  static constexpr std::size_t kMarksAtMost = 1'000;  // each is a system record and stays until it is taken back

 private:
  mutable Mutex mutex_;
  std::map<std::string, ServerName> marked_ GUARDED_BY(mutex_);  // by address, as below
  std::set<std::string> reserved_ GUARDED_BY(mutex_);            // "host,port"
  std::set<ServerName> stopping_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
