// MasterService: time of regions' last major compactions, as region servers report it.
#include <algorithm>
#include <cstdint>
#include <string>

#include <fmt/core.h>

#include "common/model/codec.h"
#include "common/model/proto/master.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

// Returns 0, as in HBase, without a major compaction or without a report of the region.
std::int64_t LastMajor(const ServiceEnv& env, const RegionNode& region) {
  const auto load = env.loads.LoadOf(region.encoded, region.location);
  return load ? static_cast<std::int64_t>(load->last_major_compaction_ts()) : 0;
}

Result<pb::MajorCompactionTimestampResponse> OfTable(const ServiceEnv& env, const ActiveParts& parts,
                                                     const pb::MajorCompactionTimestampRequest& request) {
  RATCHET_ASSIGN(const TableName table, FromProto(request.table_name()));
  if (!parts.logic->tables.Get(table))
    return rpc::RemoteError(rpc::exception::kTableNotFound, fmt::format("table {} does not exist", table.ToString()));
  // As in HBase, the oldest time of the table's regions that have one.
  std::int64_t oldest = 0;
  for (const RegionNode& region : parts.logic->regions.OfTable(table)) {
    const std::int64_t at = LastMajor(env, region);
    if (at != 0) oldest = oldest == 0 ? at : std::min(oldest, at);
  }
  pb::MajorCompactionTimestampResponse response;
  response.set_compaction_timestamp(oldest);
  return response;
}

Result<pb::MajorCompactionTimestampResponse> OfRegion(const ServiceEnv& env, const ActiveParts& parts,
                                                      const pb::MajorCompactionTimestampForRegionRequest& request) {
  const auto encoded = EncodedNameOf(request.region());
  if (!encoded.ok()) return rpc::RemoteError(rpc::exception::kUnknownRegion, encoded.error().message());
  const auto region = parts.logic->regions.Get(*encoded);
  if (!region) return rpc::RemoteError(rpc::exception::kUnknownRegion, fmt::format("region {} is not known", *encoded));
  pb::MajorCompactionTimestampResponse response;
  response.set_compaction_timestamp(LastMajor(env, *region));
  return response;
}

}  // namespace

void AddCompactionViews(rpc::Service& service, ServiceEnv& env) {
  Answer(service, env.gate, Need::kReady, methods::kLastMajorCompaction,
         [&env](const ActiveParts& parts, const rpc::CallContext& /*call*/,
                const pb::MajorCompactionTimestampRequest& request) { return OfTable(env, parts, request); });
  Answer(service, env.gate, Need::kReady, methods::kLastMajorCompactionOfRegion,
         [&env](const ActiveParts& parts, const rpc::CallContext& /*call*/,
                const pb::MajorCompactionTimestampForRegionRequest& request) { return OfRegion(env, parts, request); });
}

}  // namespace ratchet::master
