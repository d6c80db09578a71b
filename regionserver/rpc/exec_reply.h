// The answer of a service of a region (ClientService.ExecService). Internal.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "common/model/proto/client.pb.h"
#include "common/rpc/service.h"

namespace ratchet::regionserver {

// `type`: HBase's name of the answer's type; `bytes`: the answer.
inline void ReplyOfService(const hbase::pb::RegionSpecifier& region, std::string_view type, std::string bytes,
                           const rpc::Responder<hbase::pb::CoprocessorServiceResponse>& responder) {
  hbase::pb::CoprocessorServiceResponse response;
  *response.mutable_region() = region;
  response.mutable_value()->set_name(std::string(type));
  response.mutable_value()->set_value(std::move(bytes));
  responder.Reply(response);
}

}  // namespace ratchet::regionserver
