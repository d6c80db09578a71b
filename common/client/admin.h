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

// A procedure's end, as getProcedureResult tells it.
struct ProcedureOutcome {
  std::string result;          // of a success
  std::optional<Error> error;  // of a failure, with its exception class
};

struct AlterProgress {
  std::uint32_t left = 0;
  std::uint32_t total = 0;
};

enum class RegionVerb : std::uint8_t { kAssign, kUnassign, kMove };

// Cheap to make; thread-safe. Every verb carries one nonce through all its retries, so it is executed once, whatever
// masters come and go; *AndWait blocks until the procedure has ended (kTimeout when that takes longer than `timeout`).
class Admin {
 public:
  explicit Admin(Connection& connection) : Admin(connection, connection.options().operation_timeout) {}
  Admin(Connection& connection, Millis timeout) : connection_(connection), timeout_(timeout) {}

  // Each answers the pid of the procedure that does the work.
  [[nodiscard]] Result<std::uint64_t> CreateTable(const TableDescriptor& table,
                                                  const std::vector<std::string>& split_keys);
  [[nodiscard]] Result<std::uint64_t> EnableTable(const TableName& table);
  [[nodiscard]] Result<std::uint64_t> DisableTable(const TableName& table);
  [[nodiscard]] Result<std::uint64_t> DeleteTable(const TableName& table);
  // Takes all rows of a disabled table away, and enables it.
  [[nodiscard]] Result<std::uint64_t> TruncateTable(const TableName& table, bool preserve_splits);
  // Gives the table another descriptor; `reopen`: and has its open regions opened with it.
  [[nodiscard]] Result<std::uint64_t> ModifyTable(const TableDescriptor& table, bool reopen = true);
  // One family, whatever other families are changed meanwhile.
  [[nodiscard]] Result<std::uint64_t> AddFamily(const TableName& table, const FamilyDescriptor& family);
  [[nodiscard]] Result<std::uint64_t> ModifyFamily(const TableName& table, const FamilyDescriptor& family);
  [[nodiscard]] Result<std::uint64_t> DeleteFamily(const TableName& table, const std::string& family);
  // Every region writes to files what was acknowledged before.
  [[nodiscard]] Result<std::uint64_t> FlushTable(const TableName& table);
  // `major`: all store files of each region become one.
  [[nodiscard]] Result<std::uint64_t> CompactTable(const TableName& table, bool major);
  // How many regions are open with an older descriptor than the table's, and how many there are.
  [[nodiscard]] Result<AlterProgress> AlterStatus(const TableName& table);
  // Waits for the end of a procedure; kNotFound when the cluster does not know the pid (any more).
  [[nodiscard]] Result<ProcedureOutcome> Wait(std::uint64_t pid);
  // The procedure's failure is the error.
  [[nodiscard]] Status WaitOk(Result<std::uint64_t> pid);
  // True when the abort was accepted.
  [[nodiscard]] Result<bool> Abort(std::uint64_t pid);

  // HBase's assignment verbs; they answer when the procedure is durable. `encoded_region`: the encoded name.
  [[nodiscard]] Status Move(const std::string& encoded_region, const std::optional<ServerName>& destination);
  [[nodiscard]] Status Assign(const std::string& encoded_region);
  [[nodiscard]] Status Unassign(const std::string& encoded_region);

  // The same, answering the pid, and with a nonce: asked again after a failover it is still one procedure.
  [[nodiscard]] Result<std::uint64_t> Transit(RegionVerb verb, const std::string& encoded_region,
                                              const std::optional<ServerName>& destination = std::nullopt);

  // Two regions take the place of one. `split_key`: the first row of the second; empty: taken from the data.
  [[nodiscard]] Result<std::uint64_t> SplitRegion(const RegionInfo& region, const std::string& split_key);
  // An empty region takes its place: its rows are lost.
  [[nodiscard]] Result<std::uint64_t> TruncateRegion(const RegionInfo& region);
  // One region takes the place of two or more neighbours.
  [[nodiscard]] Result<std::uint64_t> MergeRegions(const std::vector<std::string>& encoded_regions);

  // See TableAdmin (master/control/table_admin.h); they answer the pid, whose result says what was done.
  [[nodiscard]] Result<std::uint64_t> GiveUpRegion(const std::string& encoded_region);
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
  // Any other method that begins a procedure: gives `request` one nonce for all its retries, and answers the pid.
  template <class Request, class Response>
  [[nodiscard]] Result<std::uint64_t> Submit(const rpc::Method<Request, Response>& method, Request& request) {
    request.set_nonce_group(connection_.nonce_group());
    request.set_nonce(connection_.NewNonce());
    connection_.activity().Submitting({request.nonce_group(), request.nonce()});
    RATCHET_ASSIGN(const Response response, (Call(method, request)));
    if (!response.has_proc_id())
      return Error(Code::kInternal, std::string(method.name) + ": the master named no procedure");
    const auto pid = static_cast<std::uint64_t>(response.proc_id());
    connection_.activity().Submitted(pid);
    return pid;
  }

 private:
  Connection& connection_;
  const Millis timeout_;
};

}  // namespace ratchet::client
