// Tables, regions and procedures, through the active master.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/client/connection.h"
#include "common/model/region_state.h"
#include "common/model/table_descriptor.h"

namespace hbase::pb {
class ClusterStatus;
class GetLocksResponse;
class GetProceduresResponse;
}  // namespace hbase::pb

namespace ratchet::client {

// The end of a procedure, as getProcedureResult returns it.
struct ProcedureOutcome {
  std::string result;          // after success
  std::optional<Error> error;  // after a failure, with its exception class
};

struct AlterProgress {
  std::uint32_t left = 0;
  std::uint32_t total = 0;
};

enum class RegionVerb : std::uint8_t { kAssign, kUnassign, kMove };

// Cheap to make; thread-safe. Every verb carries one nonce through all its retries, so it is executed once, however
// often the master changes. *AndWait blocks until the procedure has ended (kTimeout when that takes longer than
// `timeout`).
class Admin {
 public:
  explicit Admin(Connection& connection) : Admin(connection, connection.options().operation_timeout) {}
  Admin(Connection& connection, Millis timeout) : connection_(connection), timeout_(timeout) {}

  // Each returns the pid of the procedure that does the work.
  [[nodiscard]] Result<std::uint64_t> CreateTable(const TableDescriptor& table,
                                                  const std::vector<std::string>& split_keys);
  [[nodiscard]] Result<std::uint64_t> EnableTable(const TableName& table);
  [[nodiscard]] Result<std::uint64_t> DisableTable(const TableName& table);
  [[nodiscard]] Result<std::uint64_t> DeleteTable(const TableName& table);
  // Deletes all rows of a disabled table, and enables it.
  [[nodiscard]] Result<std::uint64_t> TruncateTable(const TableName& table, bool preserve_splits);
  // Gives the table another descriptor; `reopen`: its open regions are opened again with it.
  [[nodiscard]] Result<std::uint64_t> ModifyTable(const TableDescriptor& table, bool reopen = true);
  // Changes one family, and keeps later changes of other families.
  [[nodiscard]] Result<std::uint64_t> AddFamily(const TableName& table, const FamilyDescriptor& family);
  [[nodiscard]] Result<std::uint64_t> ModifyFamily(const TableName& table, const FamilyDescriptor& family);
  [[nodiscard]] Result<std::uint64_t> DeleteFamily(const TableName& table, const std::string& family);
  // Every region writes its acknowledged data to files.
  [[nodiscard]] Result<std::uint64_t> FlushTable(const TableName& table);
  // `major`: all store files of each region become one.
  [[nodiscard]] Result<std::uint64_t> CompactTable(const TableName& table, bool major);
  // Number of regions that are open with an older descriptor than the current one of the table, and number of all its
  // regions.
  [[nodiscard]] Result<AlterProgress> AlterStatus(const TableName& table);
  // Waits for the end of a procedure; kNotFound when the cluster does not know the pid, or no longer does.
  [[nodiscard]] Result<ProcedureOutcome> Wait(std::uint64_t pid);
  // If the procedure fails, its error is returned.
  [[nodiscard]] Status WaitOk(Result<std::uint64_t> pid);
  // True when the abort was accepted.
  [[nodiscard]] Result<bool> Abort(std::uint64_t pid);

  // HBase's assignment verbs; they return when the procedure is durable. `encoded_region`: the encoded name.
  [[nodiscard]] Status Move(const std::string& encoded_region, const std::optional<ServerName>& destination);
  [[nodiscard]] Status Assign(const std::string& encoded_region);
  [[nodiscard]] Status Unassign(const std::string& encoded_region);

  // Like Move, but returns the pid and carries a nonce, so that a repetition after a failover is still one procedure.
  [[nodiscard]] Result<std::uint64_t> Transit(RegionVerb verb, const std::string& encoded_region,
                                              const std::optional<ServerName>& destination = std::nullopt);

  // Two regions replace one. `split_key`: the first row of the second; empty: taken from the data.
  [[nodiscard]] Result<std::uint64_t> SplitRegion(const RegionInfo& region, const std::string& split_key);
  // An empty region replaces it: its rows are lost.
  [[nodiscard]] Result<std::uint64_t> TruncateRegion(const RegionInfo& region);
  // One region replaces two or more neighbours.
  [[nodiscard]] Result<std::uint64_t> MergeRegions(const std::vector<std::string>& encoded_regions);

  // See TableAdmin (master/requests/table_admin.h); they return the pid. The procedure's result describes what was
  // done.
  [[nodiscard]] Result<std::uint64_t> GiveUpRegion(const std::string& encoded_region);
  [[nodiscard]] Result<std::uint64_t> PutBackEdits(const std::string& encoded_region);
  [[nodiscard]] Result<std::uint64_t> FillHoles(const TableName& table);

  // User tables; `include_system` adds the others.
  [[nodiscard]] Result<std::vector<TableName>> ListTables(bool include_system = false);
  [[nodiscard]] Result<TableDescriptor> Describe(const TableName& table);
  [[nodiscard]] Result<TableState> State(const TableName& table);
  [[nodiscard]] Result<std::vector<RegionLocation>> Regions(const TableName& table);
  [[nodiscard]] Result<hbase::pb::ClusterStatus> ClusterStatus();
  [[nodiscard]] Result<hbase::pb::GetProceduresResponse> Procedures();
  [[nodiscard]] Result<hbase::pb::GetLocksResponse> Locks();

  // Any other method of a master's service.
  template <class Request, class Response>
  [[nodiscard]] Result<Response> Call(const rpc::Method<Request, Response>& method,
                                      const std::type_identity_t<Request>& request) {
    RetryLoop loop = connection_.NewLoop(timeout_);
    return connection_.master().Call(loop, method, request);
  }
  // Any other method that begins a procedure: gives `request` one nonce for all its retries, and returns the pid.
  template <class Request, class Response>
  [[nodiscard]] Result<std::uint64_t> Submit(const rpc::Method<Request, Response>& method, Request& request) {
    request.set_nonce_group(connection_.nonce_group());
    request.set_nonce(connection_.NewNonce());
    connection_.activity().Submitting({request.nonce_group(), request.nonce()});
    RATCHET_ASSIGN(const Response response, (Call(method, request)));
    std::uint64_t pid = 0;
    if constexpr (requires { response.has_proc_id(); }) {
      if (!response.has_proc_id())
        return Error(Code::kInternal, std::string(method.name) + ": the master named no procedure");
      pid = static_cast<std::uint64_t>(response.proc_id());
    } else {
      pid = response.pid();  // Ratchet's own messages require it
    }
    connection_.activity().Submitted(pid);
    return pid;
  }

 private:
  Connection& connection_;
  const Millis timeout_;
};

}  // namespace ratchet::client
