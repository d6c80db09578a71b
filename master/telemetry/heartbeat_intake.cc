#include "master/telemetry/heartbeat_intake.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/model/codec.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;
constexpr Millis kOldestReported{86'400'000};  // larger values in a report are cut to this

Millis AgeOf(std::uint64_t ms) { return Millis(std::min<std::uint64_t>(ms, kOldestReported.count())); }

}  // namespace

RegionList RegionListOf(const pb::RegionServerReportRequest& report) {
  RegionList list;
  list.number = report.list_number();
  list.base = list.number == 0 ? 0 : report.list_base();
  list.open.reserve(static_cast<std::size_t>(report.online_size()));
  for (const auto& region : report.online()) list.open.push_back({region.encoded_name(), region.open_number()});
  list.closed.assign(report.closed().begin(), report.closed().end());
  list.size = report.list_size();
  list.digest = report.list_digest();
  return list;
}

ProcessNote ProcessNoteOf(const pb::RegionServerReportRequest& report) {
  ProcessNote note{{report.came_again(), 0, report.came_again_why()},
                   report.fault_points_allowed(),
                   {report.descriptors_used(), report.descriptor_limit()},
                   report.info_port()};
  if (report.storage().has_log_files()) note.log_files = report.storage().log_files();
  if (report.storage().has_free_bytes()) note.disk_free_bytes = report.storage().free_bytes();
  note.troubles.assign(report.trouble().begin(), report.trouble().end());
  if (report.has_security()) note.security = report.security();
  return note;
}

std::optional<StorageReport> StorageReportOf(const pb::RegionServerReportRequest& report) {
  if (!report.has_storage()) return std::nullopt;
  const auto& reported = report.storage();
  StorageReport storage;
  if (reported.has_oldest_unfinished_ms()) storage.oldest_unfinished = AgeOf(reported.oldest_unfinished_ms());
  if (reported.has_proof_ms()) storage.proof = AgeOf(reported.proof_ms());
  storage.limit = AgeOf(reported.limit_ms());
  storage.put_off_compactions = reported.put_off_compactions();
  storage.put_off_why = reported.put_off_why();
  storage.unserved_regions = reported.unserved_regions();
  storage.unserved_why = reported.unserved_why();
  return storage;
}

std::optional<ClockReading> ClockReadingOf(const pb::RegionServerReportRequest& report) {
  if (!report.load().has_report_end_time()) return std::nullopt;
  ClockReading reading;
  reading.wall_ms = report.load().report_end_time();
  for (const auto& region : report.has_list_number() ? report.ahead() : report.online()) {
    if (region.has_ahead_ms()) reading.ahead.push_back({region.encoded_name(), region.ahead_ms()});
  }
  reading.ahead_count = std::max<std::size_t>(reading.ahead.size(), report.ahead_count());
  return reading;
}

std::vector<RegionReading> ReadingsOf(const pb::ServerLoad& load) {
  std::vector<RegionReading> readings;
  readings.reserve(static_cast<std::size_t>(load.region_loads_size()));
  for (const pb::RegionLoad& region : load.region_loads()) {
    const auto encoded = EncodedNameOf(region.region_specifier());
    if (!encoded.ok()) continue;
    readings.push_back({*encoded, region.read_requests_count() + region.write_requests_count(),
                        static_cast<std::uint64_t>(region.region_size_mb()) << 20});
  }
  return readings;
}

bool LacksLoads(const LoadBook& loads, const ServerName& server, const pb::RegionServerReportRequest& report) {
  return loads.KnownAt(server) < report.loads_held() && !RATCHET_MUTANT("master.lack_no_loads");
}

std::optional<StorageAnswer> HeartbeatIntake::Take(const ServerName& server,
                                                   const pb::RegionServerReportRequest& report,
                                                   const RegionList& list) {
  const TimePoint now = clock_.Now();
  if (report.has_load() && books_.loads.Put(server, report.load(), now, list)) {
    const bool complete = report.loads_complete() || RATCHET_MUTANT("master.unsent_is_unchanged");
    books_.rates.Put(server, ReadingsOf(report.load()), now, {complete, list.size});
  }
  if (auto reading = ClockReadingOf(report)) {
    books_.clocks.Put(server, ClockSkewMs(reading->wall_ms, clock_.WallMillis()), std::move(reading->ahead), now,
                      reading->ahead_count);
  }
  books_.pasts.Put(server, ProcessNoteOf(report), now);
  const auto storage = StorageReportOf(report);
  if (!storage) return std::nullopt;
  const StorageAnswer answer = books_.storage.Put(server, *storage, now);
  if (answer.may_withdraw) {
    RATCHET_LOG(kWarn, "The storage of {} has hung for {} ms and answers other servers: the server may withdraw",
                server.ToString(), storage->oldest_unfinished->count());
  }
  return answer;
}

}  // namespace ratchet::master
