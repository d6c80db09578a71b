// ClientService: Get, Mutate, Multi and Scan, with HBase's semantics (docs/wire-compatibility.md).
//
// Every reply that depends on a region's data passes the region's CHECK after evaluation (S24: visible after sync).
// Durability is always SYNC: writes with ASYNC_WAL or SKIP_WAL are synced too.
// Handlers run on the RPC library's threads; answers to mutations come from the log's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/base/result.h"
#include "common/model/proto/client.pb.h"
#include "common/rights/judge.h"
#include "common/rpc/call.h"
#include "common/rpc/service.h"
#include "regionserver/orders/epoch_guard.h"
#include "regionserver/region/region.h"
#include "regionserver/rpc/data_rights.h"
#include "regionserver/rpc/request_parts.h"
#include "regionserver/rpc/scanner_table.h"
#include "regionserver/rpc/throttles.h"

namespace ratchet::regionserver {

class AheadBudget;
class MasterCalls;  // user_services.h

// Finds a region: in the server's region host, or in a test's.
using RegionFinder = std::function<Result<std::shared_ptr<Region>>(const std::string& encoded_name)>;

// BindRights and Bind are two functions, because --help lists other parts' settings in between.
struct DataServiceOptions {
  Live<std::uint64_t> max_result_bytes{2u << 20};   // limit of one scan reply
  Live<std::uint64_t> scan_ahead_bytes{64u << 20};  // limit of AheadBudget, which the process makes
  std::uint64_t max_multi_bytes = 64u << 20;        // limit of all results of one Multi
  Live<bool> exec_checks{false};                    // services of regions need EXEC on the table too

  template <class Settings>
  void BindRights(Settings& settings) {
    settings.AddBool(
        {"exec-permission-checks",
         "With --rights: services of regions (ExecService) need EXEC on the table, in addition to their other rights.",
         {"hbase.security.exec.permission.checks"}},
        &exec_checks);
  }

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddBytes({"max-result-bytes",
                       "Maximum size of an answer to one scan request, whatever the client requests.",
                       {"hbase.server.scanner.max.result.size"}},
                      &max_result_bytes, 1024, 1u << 28);
    settings.AddBytes(
        {"scan-ahead-bytes",
         "Maximum total size of replies that are read ahead for long scans, while clients process the previous reply; "
         "0: none.",
         {}},
        &scan_ahead_bytes, 0, 1ull << 34);
    settings.AddBytes({"max-multi-bytes",
                       "Maximum total size of the results of one Multi; clients must repeat the actions beyond it "
                       "(MultiActionResultTooLarge).",
                       {}},
                      &max_multi_bytes, 1024, 1u << 28);
  }
};

struct DataServiceParts {
  RegionFinder find;
  std::function<Status()> admit;  // an error while the server does not serve (starting, stopping)
  EpochGuard& epochs;
  ScannerTable& scanners;
  Clock& clock;
  DataServiceOptions options{};
  Throttles* throttles = nullptr;        // null: no limits
  std::shared_ptr<AheadBudget> ahead{};  // null: no read-ahead
  // S59 (epoch proven by a claim): proves an epoch above all seen so far; empty: no proof needed (tests).
  std::function<Status(Epoch)> prove_epoch{};
  // mutations that have passed this cluster are refused (S112: no replication loops); empty: unknown (tests)
  std::string cluster_id{};
  const rights::Judge* judge = nullptr;  // null: every user may read and write everything
  MasterCalls* master = nullptr;         // null: services that the master answers are refused
};

// All objects that `parts` refers to must outlive the service and every call.
[[nodiscard]] std::shared_ptr<const rpc::Service> MakeDataService(DataServiceParts parts);

// The code that ClientService's methods share: finding the region, the CHECK before a reply, meta's epoch gate. For the
// sources of this folder.
class DataCalls {
 public:
  explicit DataCalls(DataServiceParts parts) : parts_(std::move(parts)), rights_(parts_.judge) {}

  void Get(const pb::GetRequest& request, const rpc::Responder<pb::GetResponse>& responder) const;
  // Answers on an I/O thread if the row is in memory and nothing has to be waited for, S141 (no waiting on I/O
  // threads). Otherwise returns false without a trace.
  [[nodiscard]] bool GetAtOnce(const pb::GetRequest& request, const rpc::Responder<pb::GetResponse>& responder) const;
  void Mutate(const pb::MutateRequest& request, std::string_view cells,
              const rpc::Responder<pb::MutateResponse>& responder) const;
  void Multi(const pb::MultiRequest& request, std::string_view cells,
             const rpc::Responder<pb::MultiResponse>& responder) const;
  // exec_call.cc: other services of a region.
  void Exec(const pb::CoprocessorServiceRequest& request,
            const rpc::Responder<pb::CoprocessorServiceResponse>& responder) const;
  void Scan(const pb::ScanRequest& request, const rpc::Responder<pb::ScanResponse>& responder) const;

  // Finds the region of a part of a Multi.
  [[nodiscard]] Result<std::shared_ptr<Region>> FindRegion(const pb::RegionSpecifier& specifier) const;
  // Does one read, of what the caller may see. The caller of this function makes the CHECK.
  [[nodiscard]] Result<std::vector<Cell>> ReadRow(Region& region, const pb::Get& get,
                                                  const rpc::CallContext& context) const;
  // Refuses writes without the right, and those that have passed this cluster (S112: no replication loops), and checks
  // the epoch of writes to meta: `mutation` gets its guard, and `ticket` keeps the gate until the write has ended.
  // Returns an error when the master is deposed or sent no epoch (S28: conditional meta writes), or when a client
  // writes to meta (S77: members only).
  [[nodiscard]] Status GuardWrite(const rpc::CallContext& call, const Region& region, const PbAttributes& attributes,
                                  AtomicMutation& mutation, std::shared_ptr<EpochGuard::Ticket>& ticket) const;
  [[nodiscard]] Status RefuseReturned(const AtomicMutation& unit) const;
  // S24 (visible after sync). Its fault point stops a reader that is about to answer.
  [[nodiscard]] Status CheckRead(Region& region) const;
  // Checks the quotas, before any work begins and once for each region of a request.
  [[nodiscard]] Result<Throttles::Use> Throttle(const rpc::CallContext& call, const Region& region,
                                                const ThrottleWork& work) const;
  // Variant for work that must be counted first: `work_of()` is called only when a quota applies.
  template <class WorkOf>
  [[nodiscard]] Result<Throttles::Use> ThrottleBy(const rpc::CallContext& call, const Region& region,
                                                  const WorkOf& work_of) const {
    if (parts_.throttles == nullptr || !parts_.throttles->limits_anything()) return Throttles::Use();
    return Throttle(call, region, work_of());
  }
  [[nodiscard]] const DataServiceParts& parts() const { return parts_; }
  [[nodiscard]] const DataRights& rights() const { return rights_; }

 private:
  // An error means that no work was begun and no answer sent.
  [[nodiscard]] Status CallService(const pb::CoprocessorServiceRequest& request,
                                   const rpc::Responder<pb::CoprocessorServiceResponse>& responder) const;
  // AuthenticationService, S151 (a token is its user's only): user_services.cc.
  [[nodiscard]] Status Authenticate(const Region& region, const pb::CoprocessorServiceRequest& request,
                                    const rpc::Responder<pb::CoprocessorServiceResponse>& responder) const;
  // AccessControlService: user_services.cc.
  [[nodiscard]] Status ControlAccess(const Region& region, const pb::CoprocessorServiceRequest& request,
                                     const rpc::Responder<pb::CoprocessorServiceResponse>& responder) const;
  // For MultiRowMutationService and AggregateService.
  [[nodiscard]] Status CheckExec(const rpc::CallContext& call, const Region& region) const;
  // Returns the bytes of an AggregateResponse (aggregate_call.cc).
  [[nodiscard]] Result<std::string> AggregateRows(Region& region, const pb::CoprocessorServiceCall& call,
                                                  const rpc::CallContext& context) const;
  [[nodiscard]] Result<pb::GetResponse> DoGet(const pb::GetRequest& request, const rpc::CallContext& context,
                                              CellTarget target) const;
  [[nodiscard]] Status Prove(Epoch claimed) const;
  // For a read of meta by a master with its epoch: afterwards no write with a lower epoch can follow the read.
  [[nodiscard]] Status EnterMetaRead(const Region& region, const PbAttributes& attributes) const;
  // scan_call.cc
  struct ScanAnswer;
  [[nodiscard]] Result<ScanAnswer> DoScan(const pb::ScanRequest& request, const rpc::CallContext& context) const;
  [[nodiscard]] Result<ScanAnswer> AnswerWithoutScanner(const pb::ScanRequest& request, const Error& why) const;
  [[nodiscard]] Status ReadNext(const pb::ScanRequest& request, const rpc::CallContext& context, ScannerTable::Use& use,
                                Throttles::Use& limited, ScanAnswer& answer) const;
  [[nodiscard]] Result<ScannerTable::Use> OpenScanner(const pb::ScanRequest& request, const rpc::CallContext& context,
                                                      Throttles::Use& limited) const;

  [[nodiscard]] Status JudgeAgain(const rpc::CallContext& context, ScannerTable::Use& use) const;

  const DataServiceParts parts_;
  const DataRights rights_;
};

// Returns the form in which the call's connection wants cells; `block` is used for a cell block.
[[nodiscard]] CellTarget TargetOf(const rpc::CallContext& call, std::string& block);
// Provisional cost of reads until their size is known, as in HBase.
inline constexpr std::uint64_t kBytesOfGet = 100;
inline constexpr std::uint64_t kBytesOfScan = 1000;
[[nodiscard]] std::uint64_t BytesOf(const std::vector<Cell>& cells);
void FillMutationResult(const Mutation& mutation, const std::vector<Cell>& cells, CellTarget target, pb::Result& out);

}  // namespace ratchet::regionserver
