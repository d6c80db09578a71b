// Submits a procedure to a master with one nonce, repeats the request as needed, and waits for its end across
// failovers.
//
// Thread-safe; blocks in slices, so that a stopping caller returns within seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "chaos/history/operation.h"
#include "chaos/workloads/table_model.h"
#include "common/client/admin.h"

namespace ratchet::chaos {

enum class DdlOutcome : std::uint8_t {
  kSucceeded,
  kFailed,      // the procedure ended with an error and was rolled back
  kRefused,     // the request was not accepted
  kUnknown,     // no answer to the request: it may have been accepted
  kUnfinished,  // accepted; its end was not awaited
  kLost,        // accepted, but the cluster has forgotten it although no client had seen its end
};

// Converts to the outcome that loads count.
[[nodiscard]] OperationOutcome AsOperation(DdlOutcome outcome);

struct DdlEnd {
  DdlOutcome outcome = DdlOutcome::kUnknown;
  std::optional<std::uint64_t> pid;
  std::string error{};
  std::optional<Code> code{};  // of the error
  std::string result{};        // result of a success
};

// A request with its nonce; may be repeated any number of times.
using DdlRequest = std::function<Result<std::uint64_t>(client::Connection&)>;
[[nodiscard]] DdlRequest MakeDdlRequest(client::Connection& connection, DdlVerb verb, const TableName& table,
                                        const std::string& family, const std::vector<std::string>& split_keys);
// Without a destination the region moves to another server.
[[nodiscard]] DdlRequest MakeMoveRequest(client::Connection& connection, const std::string& encoded_region,
                                         const std::optional<ServerName>& destination = std::nullopt);

// Modify the whole table, or one family of it.
[[nodiscard]] DdlRequest MakeModifyTableRequest(client::Connection& connection, const TableDescriptor& table);
[[nodiscard]] DdlRequest MakeAddFamilyRequest(client::Connection& connection, const TableName& table,
                                              const FamilyDescriptor& family);
[[nodiscard]] DdlRequest MakeModifyFamilyRequest(client::Connection& connection, const TableName& table,
                                                 const FamilyDescriptor& family);
[[nodiscard]] DdlRequest MakeDeleteFamilyRequest(client::Connection& connection, const TableName& table,
                                                 const std::string& family);

[[nodiscard]] DdlRequest MakeDrainRequest(client::Connection& connection, const ServerName& server);
// Takes the server at the address back, and moves `encoded_regions` there.
[[nodiscard]] DdlRequest MakeUndrainRequest(client::Connection& connection, const ServerName& server,
                                            const std::vector<std::string>& encoded_regions);

[[nodiscard]] DdlRequest MakeSplitRequest(client::Connection& connection, const RegionInfo& region,
                                          const std::string& split_key);
[[nodiscard]] DdlRequest MakeMergeRequest(client::Connection& connection,
                                          const std::vector<std::string>& encoded_regions);

using GiveUp = std::function<bool()>;
[[nodiscard]] DdlEnd RunToEnd(client::Connection& connection, const DdlRequest& request, const GiveUp& give_up);
// Waits for the end of a known procedure.
[[nodiscard]] DdlEnd WaitForEnd(client::Connection& connection, std::uint64_t pid, const GiveUp& give_up);

}  // namespace ratchet::chaos
