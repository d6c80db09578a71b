// Decommissions: the decommissioned servers (HBase's draining servers). Placement gives them no region while another
// server can have it.
//
// A mark belongs to an address: it applies to every later server at the same host and port, until it is removed. The
// procedure store has a system record for each mark, and memory mirrors the records. Only the procedure that holds the
// lock of the address changes either. Owned by MasterLogic. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/model/server_name.h"
#include "procedure/api/event.h"

namespace ratchet::master {

// The system record "decommissioned/<host>,<port>" has the name of the server that was marked.
inline constexpr std::string_view kDecommissionRecordPrefix = "decommissioned/";

class Decommissions {
 public:
  // Sets what wakes procedures; called once, before Recover.
  void Attach(std::function<void(const procedure::EventKey&)> wake) { wake_ = std::move(wake); }

  // ---- views ----
  // Returns true if the server is marked or reserved: no region may move to it.
  [[nodiscard]] bool Has(const ServerName& server) const;
  // Returns the marked servers, in the order of the records, without reserved ones.
  [[nodiscard]] std::vector<ServerName> Marked() const;
  [[nodiscard]] bool IsMarked(const ServerName& server) const;
  // Number of marked and reserved addresses.
  [[nodiscard]] std::size_t size() const;
  // Rises with each change of what Has returns.
  [[nodiscard]] std::uint64_t changes() const { return changes_.load(); }
  // Returns true if a procedure has drained the server and wants it to stop: each answer to a heartbeat carries this.
  [[nodiscard]] bool IsToStop(const ServerName& server) const;

  // ---- changes ----
  // Counts the server as marked before its record exists. Show ends the reservation.
  void Reserve(const ServerName& server);
  // Applies the record of the server's address; empty if there is no record. Wakes procedures that wait for a server.
  void Show(const ServerName& server, const std::string& record);
  void SetToStop(const ServerName& server, bool stops);

  static constexpr std::size_t kMarksAtMost = 1'000;  // each mark is a system record and stays until it is removed

 private:
  std::function<void(const procedure::EventKey&)> wake_;
  mutable Mutex mutex_;
  std::atomic<std::uint64_t> changes_{0};
  std::map<std::string, ServerName> marked_ GUARDED_BY(mutex_);  // by address, "host,port"
  std::set<std::string> reserved_ GUARDED_BY(mutex_);            // "host,port"
  std::set<ServerName> stopping_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
