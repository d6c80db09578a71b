// ReportHandler: passes the reports of region servers about orders to the procedures that gave the orders.
//
// The reporter is answered only after the commit of its report. A report is taken only from the addressee of the order,
// while it is online, and only with the order's (epoch, attempt); other reports are answered with the expected (epoch,
// attempt), and the server sends again (rule S20: answers are repeated). A report for an order that is settled already
// is acknowledged and changes nothing. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"

namespace ratchet::master {

struct MasterEnv;

enum class TransitionCode : std::uint8_t { kOpened = 1, kFailedOpen = 2, kClosed = 3 };  // stored

struct RegionReport {
  ServerName server;
  TransitionCode code = TransitionCode::kOpened;
  std::string encoded_region;
  std::uint64_t open_sequence = 0;  // kOpened: first sequence id after this opening
  ProcId pid;                       // the order
  Epoch epoch;                      // address of the answer, as the server last heard it
  std::uint32_t attempt = 0;
  std::string error_class;  // kFailedOpen
  std::string error_message;
  // kOpened: number of the descriptor with which it is open (S48: schema pinned in the order); 0: not reported
  std::uint64_t schema_number = 0;
  // kOpened: open number of the serving incarnation (S118: older copy stays closed); 0: not reported
  std::uint64_t open_number = 0;
  std::uint64_t flushed = 0;  // kClosed: its flushed sequence (S118); 0: not reported
};

struct ProcedureReport {  // of a server-wide order (splitting a log)
  ServerName server;
  ProcId pid;
  Epoch epoch;
  std::uint32_t attempt = 0;
  bool success = false;
  std::string payload;
  std::string error_class;
  std::string error_message;
};

struct ReportAnswer {
  bool stale = false;  // not accepted: send it again with the epoch and attempt below, if given
  Epoch epoch;         // of this master
  std::optional<std::uint32_t> expected_attempt;  // attempt that the order's procedure expects, if the procedure exists
  std::string reason;
};

class ReportHandler {
 public:
  explicit ReportHandler(MasterEnv& env) : env_(env) {}

  // `done` exactly once, after the commit. Errors: YouAreDeadException (kFailedPrecondition) when the server is not
  // online here; kUnavailable when nothing can be committed now (the server repeats).
  void OnRegionReport(const RegionReport& report, std::function<void(Result<ReportAnswer>)> done);
  // Reports of one order about different regions: `reports` is not empty, and all have the same server, pid, epoch and
  // attempt. They are taken together, in one commit, or not at all.
  void OnRegionReports(const std::vector<RegionReport>& reports, std::function<void(Result<ReportAnswer>)> done);
  void OnProcedureReport(const ProcedureReport& report, std::function<void(Result<ReportAnswer>)> done);

 private:
  struct Address;
  void Take(const Address& from, std::string message, std::function<void(Result<ReportAnswer>)> done);
  // Builds the answer to a report that was not accepted.
  [[nodiscard]] Result<ReportAnswer> Refusal(ProcId pid, std::string reason) const;
  MasterEnv& env_;
};

}  // namespace ratchet::master
