// Executes the order to copy a region into a snapshot, or out of one.
#include <fmt/format.h>

#include "common/base/log.h"
#include "common/io/light_directory.h"
#include "common/model/codec.h"
#include "regionserver/host/region_host.h"
#include "regionserver/wal/log_survey.h"

namespace ratchet::regionserver {

OrderAnswer RegionHost::Copy(const CopyOrder& order) {
  const TimePoint begun = clock_.Now();
  const Result<CopyReport> report = RunCopy(order);
  if (!report.ok()) {
    RATCHET_LOG(kWarn, "pid={} Copy of a region failed: {}", order.pid, report.error().ToString());
    return FailedAnswer(OrderOutcome::kFailed, report.error());
  }
  RATCHET_LOG(kInfo, "pid={} Copied a region, snapshot={}, files={}, sequence={}, in {} ms{}", order.pid,
              order.parameter.snapshot(), report->files, report->sequence,
              std::chrono::duration_cast<Millis>(clock_.Now() - begun).count(),
              report->not_ready.empty() ? "" : ": not, as " + report->not_ready);
  pb::CopyRegionResult result;
  if (!report->not_ready.empty()) result.set_not_ready(report->not_ready);
  result.set_sequence(report->sequence);
  result.set_files(report->files);
  result.set_bytes(report->bytes);
  OrderAnswer answer;
  answer.outcome = OrderOutcome::kDone;
  answer.payload = result.SerializeAsString();
  return answer;
}

Result<CopyReport> RegionHost::RunCopy(const CopyOrder& order) const {
  const pb::CopyRegionParameter& parameter = order.parameter;
  const bool from_part = parameter.kind() == pb::CopyRegionParameter::PART;
  RATCHET_ASSIGN(const RegionInfo source, FromProto(parameter.source()));
  CopyTarget target;
  target.number = order.pid.value();
  RATCHET_ASSIGN(target.region, FromProto(parameter.target()));
  RATCHET_ASSIGN(const TableDescriptor table, FromProto(parameter.schema()));
  target.families = table.families;
  RATCHET_TRY(CheckFence());  // a fenced server must not begin
  RATCHET_ASSIGN(const auto part, PartDirectory(parameter.snapshot(), source.encoded_name()));
  const auto copy = [&]() -> Result<CopyReport> {
    if (parameter.kind() == pb::CopyRegionParameter::OPEN_REGION) {
      target.directory = part.get();
      RATCHET_ASSIGN(const std::shared_ptr<Region> region, Find(source.encoded_name()));
      return region->CopyTo(parameter.flush(), target);
    }
    const RegionInfo& other = from_part ? target.region : source;
    RATCHET_ASSIGN(const auto directory, RegionDirectory(parameter.table_dir(), other.encoded_name()));
    target.directory = from_part ? directory.get() : part.get();
    if (from_part) return CopyPart(source, *part, parameter.part(), target);
    return CopyClosedRegion(source, *directory, {parameter.opened_before(), parameter.build_number()}, target);
  };
  RATCHET_ASSIGN(CopyReport report, copy());
  RATCHET_TRY(CheckFence());
  return report;
}

Result<std::unique_ptr<io::Directory>> RegionHost::PartDirectory(const std::string& snapshot,
                                                                 const std::string& encoded_name) const {
  if (!IsDirectoryName(snapshot)) {
    return Error(Code::kInvalidArgument, fmt::format("'{}' is not a snapshot's directory", snapshot));
  }
  return io::OpenLightDirectory(root_, fmt::format("snapshots/{}/{}", snapshot, encoded_name));
}

}  // namespace ratchet::regionserver
