// What the methods of ClientService share: finding the region, the CHECK before a reply, meta's epoch gate. Private to
// the folder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/proto/client.pb.h"
#include "common/rpc/call.h"
#include "regionserver/region/region.h"
#include "regionserver/services/data_service_parts.h"
#include "regionserver/services/request_parts.h"
#include "regionserver/services/throttles.h"

namespace ratchet::regionserver {

class DataCalls {
 public:
  explicit DataCalls(DataServiceParts parts) : parts_(std::move(parts)) {}

  void Get(const pb::GetRequest& request, const rpc::Responder<pb::GetResponse>& responder) const;
  void Mutate(const pb::MutateRequest& request, std::string_view cells,
              const rpc::Responder<pb::MutateResponse>& responder) const;
  void Multi(const pb::MultiRequest& request, std::string_view cells,
             const rpc::Responder<pb::MultiResponse>& responder) const;
  // exec_call.cc: the services that a region has besides.
  void Exec(const pb::CoprocessorServiceRequest& request,
            const rpc::Responder<pb::CoprocessorServiceResponse>& responder) const;
  void Scan(const pb::ScanRequest& request, const rpc::Responder<pb::ScanResponse>& responder) const;

  // For the parts of a Multi.
  [[nodiscard]] Result<std::shared_ptr<Region>> FindRegion(const pb::RegionSpecifier& specifier) const;
  // One read. Its CHECK is the caller's.
  [[nodiscard]] Result<std::vector<Cell>> ReadRow(Region& region, const pb::Get& get) const;
  // Gives writes to meta their epoch: `mutation` gets its guard and `ticket` keeps the gate until the write has ended.
  // Other regions: nothing. An error when the master is deposed or said nothing (S28), or when a client writes (S77).
  [[nodiscard]] Status GuardMetaWrite(const rpc::CallContext& call, const Region& region,
                                      const PbAttributes& attributes, AtomicMutation& mutation,
                                      std::shared_ptr<EpochGuard::Ticket>& ticket) const;
  // S24. The fault point before it is where a test stops a reader that is about to answer.
  [[nodiscard]] Status CheckRead(const Region& region) const;
  // Whether the quotas let it pass now; before anything is begun, and once for each region of a request.
  [[nodiscard]] Result<Throttles::Use> Throttle(const rpc::CallContext& call, const Region& region,
                                                const ThrottleWork& work) const;
  // The same where the work is to be counted first: `work_of()` is asked only when something is limited.
  template <class WorkOf>
  [[nodiscard]] Result<Throttles::Use> ThrottleBy(const rpc::CallContext& call, const Region& region,
                                                  const WorkOf& work_of) const {
    if (parts_.throttles == nullptr || !parts_.throttles->limits_anything()) return Throttles::Use();
    return Throttle(call, region, work_of());
  }
  [[nodiscard]] const DataServiceParts& parts() const { return parts_; }

 private:
  // An error: nothing was begun, and nothing is answered yet.
  [[nodiscard]] Status CallService(const pb::CoprocessorServiceRequest& request,
                                   const rpc::Responder<pb::CoprocessorServiceResponse>& responder) const;
  // The bytes of an AggregateResponse (aggregate_call.cc).
  [[nodiscard]] Result<std::string> AggregateRows(Region& region, const pb::CoprocessorServiceCall& call,
                                                  const rpc::CallContext& context) const;
  [[nodiscard]] Result<pb::GetResponse> DoGet(const pb::GetRequest& request, const rpc::CallContext& context,
                                              CellTarget target) const;
  [[nodiscard]] Status Prove(Epoch claimed) const;
  // Meta read by a master that says its epoch: from then on no lower epoch's write can follow what it reads.
  [[nodiscard]] Status EnterMetaRead(const Region& region, const PbAttributes& attributes) const;
  // scan_call.cc
  struct ScanAnswer;
  [[nodiscard]] Result<ScanAnswer> DoScan(const pb::ScanRequest& request, const rpc::CallContext& context) const;
  [[nodiscard]] Result<ScannerTable::Use> OpenScanner(const pb::ScanRequest& request, const rpc::CallContext& context,
                                                      Throttles::Use& limited) const;

  const DataServiceParts parts_;
};

// The form in which the call's connection wants cells; `block` is used where that is a cell block.
[[nodiscard]] CellTarget TargetOf(const rpc::CallContext& call, std::string& block);
// What reads are taken for until they are done, as HBase takes them.
inline constexpr std::uint64_t kBytesOfGet = 100;
inline constexpr std::uint64_t kBytesOfScan = 1000;
[[nodiscard]] std::uint64_t BytesOf(const std::vector<Cell>& cells);
void FillMutationResult(const Mutation& mutation, const std::vector<Cell>& cells, CellTarget target, pb::Result& out);

}  // namespace ratchet::regionserver
