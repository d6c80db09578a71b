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
#include "common/rpc/call.h"
#include "common/rpc/service.h"
#include "regionserver/orders/epoch_guard.h"
#include "regionserver/region/region.h"
#include "regionserver/rpc/request_parts.h"
#include "regionserver/rpc/scanner_table.h"
#include "regionserver/rpc/throttles.h"

namespace ratchet::regionserver {

class AheadBudget;

// Finds a region: in the server's region host, or in a test's.
using RegionFinder = std::function<Result<std::shared_ptr<Region>>(const std::string& encoded_name)>;

struct DataServiceParts {
  RegionFinder find;
  std::function<Status()> admit;  // an error while the server does not serve (starting, stopping)
  EpochGuard& epochs;
  ScannerTable& scanners;
  Clock& clock;
  Live<std::uint64_t> max_result_bytes{2u << 20};  // limit of one scan reply
  std::uint64_t max_multi_bytes = 64u << 20;       // limit of all results of one Multi
  Throttles* throttles = nullptr;                  // null: no limits
  std::shared_ptr<AheadBudget> ahead{};            // null: no read-ahead
  // S59 (epoch proven by a claim): proves an epoch above all seen so far; empty: no proof needed (tests).
  std::function<Status(Epoch)> prove_epoch{};
  // mutations that have passed this cluster are refused (S112: no replication loops); empty: unknown (tests)
  std::string cluster_id{};
};

// All objects that `parts` refers to must outlive the service and every call.
[[nodiscard]] std::shared_ptr<const rpc::Service> MakeDataService(DataServiceParts parts);

// The code that ClientService's methods share: finding the region, the CHECK before a reply, meta's epoch gate. For the
// sources of this folder.
class DataCalls {
 public:
  explicit DataCalls(DataServiceParts parts) : parts_(std::move(parts)) {}

  void Get(const pb::GetRequest& request, const rpc::Responder<pb::GetResponse>& responder) const;
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
  // Does one read. The caller makes the CHECK.
  [[nodiscard]] Result<std::vector<Cell>> ReadRow(Region& region, const pb::Get& get) const;
  // Refuses writes that have passed this cluster (S112: no replication loops), and checks the epoch of writes to meta:
  // `mutation` gets its guard, and `ticket` keeps the gate until the write has ended. Returns an error when the master
  // is deposed or sent no epoch (S28: conditional meta writes), or when a client writes to meta (S77: members only).
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

 private:
  // An error means that no work was begun and no answer sent.
  [[nodiscard]] Status CallService(const pb::CoprocessorServiceRequest& request,
                                   const rpc::Responder<pb::CoprocessorServiceResponse>& responder) const;
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
  [[nodiscard]] Result<ScannerTable::Use> OpenScanner(const pb::ScanRequest& request, const rpc::CallContext& context,
                                                      Throttles::Use& limited) const;

  const DataServiceParts parts_;
};

// Returns the form in which the call's connection wants cells; `block` is used for a cell block.
[[nodiscard]] CellTarget TargetOf(const rpc::CallContext& call, std::string& block);
// Provisional cost of reads until their size is known, as in HBase.
inline constexpr std::uint64_t kBytesOfGet = 100;
inline constexpr std::uint64_t kBytesOfScan = 1000;
[[nodiscard]] std::uint64_t BytesOf(const std::vector<Cell>& cells);
void FillMutationResult(const Mutation& mutation, const std::vector<Cell>& cells, CellTarget target, pb::Result& out);

}  // namespace ratchet::regionserver
