#include "common/client/compactions.h"

#include <utility>

#include <fmt/format.h>

#include "common/client/wire_requests.h"
#include "common/model/codec.h"
#include "common/model/proto/admin.pb.h"
#include "common/rpc/methods/admin_service.h"

namespace ratchet::client {

TableCompaction::TableCompaction(Connection& connection, TableName table, bool major, Millis timeout)
    : connection_(connection), table_(std::move(table)), major_(major), timeout_(timeout) {}

Result<TableCompaction::Progress> TableCompaction::Look() {
  RetryLoop loop = connection_.NewLoop(timeout_);
  RATCHET_ASSIGN(const auto located, connection_.locator().LocateAll(loop, table_));
  std::map<std::string, const RegionLocation*> regions;
  for (const RegionLocation& location : located) regions[location.region.encoded_name()] = &location;
  if (!std::exchange(begun_, true)) {
    for (const auto& [encoded, location] : regions) pending_[encoded];
    total_ = pending_.size();
  }
  Progress progress;
  for (auto at = pending_.begin(); at != pending_.end();) {
    const auto found = regions.find(at->first);
    bool done = found == regions.end();
    if (!done && !found->second->server.empty()) {
      const RegionLocation& location = *found->second;
      if (location.server != at->second.asked) {
        if (const Status asked = Ask(location, at->second); !asked.ok()) progress.last_error = asked.error().ToString();
      } else {
        bool passed_over = false;
        const auto is_done = IsDone(location, at->second, passed_over);
        if (!is_done.ok()) progress.last_error = is_done.error().ToString();
        if (passed_over) {
          progress.passed_over.push_back(fmt::format("{} at {}", at->first, location.server.ToString()));
          at->second.asked = {};
        }
        done = is_done.ok() && *is_done;
      }
    }
    at = done ? pending_.erase(at) : std::next(at);
  }
  progress.total = total_;
  progress.done = total_ - pending_.size();
  return progress;
}

Status TableCompaction::Ask(const RegionLocation& location, Pending& pending) {
  if (major_) {
    RATCHET_ASSIGN(const Load before, LoadOf(location));
    pending.major_before = before.major;
  }
  hbase::pb::CompactRegionRequest request;
  SpecifyEncoded(location.region.encoded_name(), *request.mutable_region());
  request.set_major(major_);
  RATCHET_TRY(connection_.pool().CallSync(methods::kCompactRegion, location.endpoint(), request, {timeout_}));
  pending.asked = location.server;
  return Ok();
}

Result<bool> TableCompaction::IsDone(const RegionLocation& location, const Pending& pending, bool& passed_over) {
  using Answer = hbase::pb::GetRegionInfoResponse;
  hbase::pb::GetRegionInfoRequest request;
  SpecifyEncoded(location.region.encoded_name(), *request.mutable_region());
  request.set_compaction_state(true);
  RATCHET_ASSIGN(const auto reply,
                 (connection_.pool().CallSync(methods::kGetRegionInfo, location.endpoint(), request, {timeout_})));
  const Answer::CompactionState state = reply.message.compaction_state();
  const Answer::CompactionState one = major_ ? Answer::MAJOR : Answer::MINOR;
  if (state == one || state == Answer::MAJOR_AND_MINOR) return false;
  if (!major_) return true;
  RATCHET_ASSIGN(const Load now, LoadOf(location));
  passed_over = now.files > 0 && now.major <= pending.major_before;
  return !passed_over;
}

Result<TableCompaction::Load> TableCompaction::LoadOf(const RegionLocation& location) {
  hbase::pb::GetRegionLoadRequest request;
  ToProto(table_, *request.mutable_table_name());
  RATCHET_ASSIGN(const auto reply,
                 (connection_.pool().CallSync(methods::kGetRegionLoad, location.endpoint(), request, {timeout_})));
  for (const auto& load : reply.message.region_loads()) {
    if (load.region_specifier().value() != location.region.name()) continue;
    return Load{load.last_major_compaction_ts(), load.storefiles()};
  }
  return Error(Code::kUnavailable,
               fmt::format("region {} is not open at {}", location.region.encoded_name(), location.server.ToString()));
}

}  // namespace ratchet::client
