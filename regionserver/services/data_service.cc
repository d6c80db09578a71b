#include "regionserver/services/data_service.h"

#include <utility>

#include "common/model/codec.h"
#include "common/model/region_info.h"
#include "regionserver/services/data_calls.h"

namespace ratchet::regionserver {
namespace {

// Requests on meta wait in a queue of their own: clients and masters find nothing without it.
rpc::QueueClass QueueOf(const pb::RegionSpecifier& region) {
  const auto name = EncodedNameOf(region);
  return name.ok() && *name == kMetaEncodedName ? rpc::QueueClass::kAdmin : rpc::QueueClass::kData;
}

}  // namespace

std::shared_ptr<const rpc::Service> MakeDataService(DataServiceParts parts) {
  auto calls = std::make_shared<const DataCalls>(std::move(parts));
  auto service = std::make_shared<rpc::Service>("ClientService");
  using Context = rpc::CallContext;
  service->On<pb::GetRequest, pb::GetResponse>("Get", [calls](const Context&, const auto& request, std::string_view,
                                                              auto responder) { calls->Get(request, responder); });
  service->On<pb::MutateRequest, pb::MutateResponse>(
      "Mutate", [calls](const Context&, const auto& request, std::string_view cells, auto responder) {
        calls->Mutate(request, cells, responder);
      });
  service->On<pb::MultiRequest, pb::MultiResponse>(
      "Multi", [calls](const Context&, const auto& request, std::string_view cells, auto responder) {
        calls->Multi(request, cells, responder);
      });
  service->On<pb::ScanRequest, pb::ScanResponse>("Scan", [calls](const Context&, const auto& request, std::string_view,
                                                                 auto responder) { calls->Scan(request, responder); });
  service->ClassifyBy<pb::GetRequest>("Get", [](const auto& request) { return QueueOf(request.region()); });
  service->ClassifyBy<pb::MutateRequest>("Mutate", [](const auto& request) { return QueueOf(request.region()); });
  service->ClassifyBy<pb::ScanRequest>("Scan", [](const auto& request) { return QueueOf(request.region()); });
  service->ClassifyBy<pb::MultiRequest>("Multi", [](const auto& request) {
    return request.regionaction().empty() ? rpc::QueueClass::kData : QueueOf(request.regionaction(0).region());
  });
  return service;
}

}  // namespace ratchet::regionserver
