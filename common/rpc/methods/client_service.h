// HBase's ClientService: rows, at region servers.
#pragma once

#include "common/model/proto/client.pb.h"
#include "common/rpc/method.h"

namespace ratchet::methods {

inline constexpr std::string_view kClientService = "ClientService";

inline constexpr rpc::Method<hbase::pb::GetRequest, hbase::pb::GetResponse> kGet{kClientService, "Get",
                                                                                 rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::MutateRequest, hbase::pb::MutateResponse> kMutate{kClientService, "Mutate"};
inline constexpr rpc::Method<hbase::pb::MultiRequest, hbase::pb::MultiResponse> kMulti{kClientService, "Multi"};
inline constexpr rpc::Method<hbase::pb::CoprocessorServiceRequest, hbase::pb::CoprocessorServiceResponse> kExecService{
    kClientService, "ExecService"};
inline constexpr rpc::Method<hbase::pb::ScanRequest, hbase::pb::ScanResponse> kScan{kClientService, "Scan",
                                                                                    rpc::Effect::kQueries};

}  // namespace ratchet::methods
