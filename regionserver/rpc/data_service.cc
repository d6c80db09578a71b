#include "regionserver/rpc/data_service.h"

#include <utility>

#include "common/base/mutant.h"
#include "common/model/codec.h"
#include "common/model/region_info.h"
#include "common/rpc/methods/client_service.h"
#include "regionserver/rpc/data_calls.h"

namespace ratchet::regionserver {
namespace {

constexpr std::uint32_t kMetaPriority = 200;  // HBase's priority of requests on system tables

// Requests on meta wait in queues of their own, because clients and masters depend on meta (S78: members' own queues).
rpc::QueueClass MetaQueueOf(const rpc::CallContext& call) {
  if (RATCHET_MUTANT("regionserver.one_meta_queue")) return rpc::QueueClass::kMeta;
  return call.member ? rpc::QueueClass::kMemberMeta : rpc::QueueClass::kMeta;
}

rpc::QueueClass QueueOf(const rpc::CallContext& call, const pb::RegionSpecifier& region) {
  const auto name = EncodedNameOf(region);
  return name.ok() && *name == kMetaEncodedName ? MetaQueueOf(call) : rpc::QueueClass::kData;
}

}  // namespace

std::shared_ptr<const rpc::Service> MakeDataService(DataServiceParts parts) {
  auto calls = std::make_shared<const DataCalls>(std::move(parts));
  auto service = std::make_shared<rpc::Service>(methods::kClientService);
  using Context = rpc::CallContext;
  service->On(methods::kGet, [calls](const Context&, const auto& request, std::string_view, auto responder) {
    calls->Get(request, responder);
  });
  service->On(methods::kMutate, [calls](const Context&, const auto& request, std::string_view cells, auto responder) {
    calls->Mutate(request, cells, responder);
  });
  service->On(methods::kMulti, [calls](const Context&, const auto& request, std::string_view cells, auto responder) {
    calls->Multi(request, cells, responder);
  });
  service->On(methods::kExecService, [calls](const Context&, const auto& request, std::string_view, auto responder) {
    calls->Exec(request, responder);
  });
  service->On(methods::kScan, [calls](const Context&, const auto& request, std::string_view, auto responder) {
    calls->Scan(request, responder);
  });
  service->ClassifyBy(methods::kGet,
                      [](const Context& call, const auto& request) { return QueueOf(call, request.region()); });
  service->ClassifyBy(methods::kMutate,
                      [](const Context& call, const auto& request) { return QueueOf(call, request.region()); });
  service->ClassifyBy(methods::kExecService,
                      [](const Context& call, const auto& request) { return QueueOf(call, request.region()); });
  service->ClassifyBy(methods::kScan, [](const Context& call, const auto& request) {
    if (request.has_region()) return QueueOf(call, request.region());
    // The next call of a scan names only the scanner. Members scan only hbase:meta; clients mark meta by the priority.
    if (call.member || call.priority >= kMetaPriority) return MetaQueueOf(call);
    return rpc::QueueClass::kData;
  });
  service->ClassifyBy(methods::kMulti, [](const Context& call, const auto& request) {
    return request.regionaction().empty() ? rpc::QueueClass::kData : QueueOf(call, request.regionaction(0).region());
  });
  return service;
}

}  // namespace ratchet::regionserver
