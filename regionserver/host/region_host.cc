#include "regionserver/host/region_host.h"

#include "common/base/exit_codes.h"

namespace ratchet::regionserver {

RegionHost::RegionHost(io::Directory& root, Clock& clock, Lanes& lanes, const HostOptions& options, const Die& die)
    : regions(clock),
      compactor(regions, lanes, clock),
      flusher(regions, compactor, lanes, clock),
      wals(options.wal, regions, flusher, die),
      orders({.root = root,
              .clock = clock,
              .lanes = lanes,
              .regions = regions,
              .flusher = flusher,
              .compactor = compactor,
              .wals = wals,
              .unserved = unserved},
             {.region = options.region, .damaged = options.damaged, .closed = options.closed}, die),
      root_(root),
      clock_(clock),
      die_(die) {}

void RegionHost::Upkeep() {
  if (const auto why = unserved.Look(regions.All(), clock_.Now())) die_(exit_code::kOwnerUnknown, *why);
  wals.LookAfterLogs();
  const auto free = root_.FreeBytes();
  disk_free_.store(free.ok() ? static_cast<std::int64_t>(*free) : kDiskUnknown);
  compactor.TryAgain();
}

void RegionHost::FillStorage(hbase::pb::StorageReport& report) const {
  compactor.put_off().Fill(report);
  unserved.Fill(report);
  report.set_log_files(static_cast<std::uint32_t>(wals.FileCount()));
  if (const std::int64_t free = disk_free_.load(); free != kDiskUnknown)
    report.set_free_bytes(static_cast<std::uint64_t>(free));
}

}  // namespace ratchet::regionserver
