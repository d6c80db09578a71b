// Splitting, merging and truncating regions.
#include <fmt/format.h>

#include "common/client/admin.h"
#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/commands.h"
#include "common/tools/cli/targets.h"

namespace ratchet::cli {
namespace {

// HBase's request carries the whole region, not its name.
Result<RegionInfo> InfoOf(client::Admin& admin, const std::string& encoded) {
  RATCHET_ASSIGN(const pb::ListRegionsResponse all, (admin.Call(methods::kListRegions, {})));
  for (const auto& row : all.region()) {
    if (row.encoded_name() == encoded) return FromProto(row.region());
  }
  return Error(Code::kNotFound, fmt::format("there is no region {}", encoded));
}

}  // namespace

int TruncateRegion(Session& session, const std::string& region, bool wait, bool yes) {
  client::Admin admin(session.connection, session.timeout);
  const auto encoded = FindRegion(admin, region);
  if (!encoded.ok()) return Report(session, encoded.error());
  const auto info = InfoOf(admin, *encoded);
  if (!info.ok()) return Report(session, info.error());
  const std::string question =
      fmt::format("Delete all rows of region {} of table {}?", *encoded, info->table.ToString());
  if (!Confirmed(question, yes)) return kExitFailed;
  return FinishAlone(session, admin, admin.TruncateRegion(*info), "truncated", *encoded, wait);
}

int SplitRegion(Session& session, const std::string& region, const std::string& split_key, bool wait) {
  const auto key = FromText(split_key);
  if (!key.ok()) return Report(session, key.error());
  client::Admin admin(session.connection, session.timeout);
  const auto encoded = FindRegion(admin, region);
  if (!encoded.ok()) return Report(session, encoded.error());
  const auto info = InfoOf(admin, *encoded);
  if (!info.ok()) return Report(session, info.error());
  return FinishAlone(session, admin, admin.SplitRegion(*info, *key), "split", *encoded, wait);
}

int MergeRegions(Session& session, const std::vector<std::string>& regions, bool wait) {
  client::Admin admin(session.connection, session.timeout);
  std::vector<std::string> encoded;
  for (const std::string& region : regions) {
    auto found = FindRegion(admin, region);
    if (!found.ok()) return Report(session, found.error());
    encoded.push_back(std::move(*found));
  }
  return FinishAlone(session, admin, admin.MergeRegions(encoded), "merged", fmt::format("{} regions", regions.size()),
                     wait);
}

}  // namespace ratchet::cli
