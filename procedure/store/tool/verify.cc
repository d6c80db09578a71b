#include <map>
#include <ostream>
#include <set>

#include <roaring/roaring64map.hh>

#include "common/base/json_writer.h"
#include "common/io/record_log.h"
#include "procedure/store/format.h"
#include "procedure/store/tool/wal_tool.h"

namespace ratchet::procedure::tool {
namespace {

struct SegmentReport {
  std::string role;  // open, closed, does not count
  std::uint64_t frames = 0;
  std::uint64_t upserts = 0;
  std::uint64_t deletes = 0;
  std::uint64_t bytes = 0;
  std::string summary = "none";  // none, agrees, differs
  std::string end;               // clean, torn, damaged
};

SegmentReport Examine(const SegmentFile& file) {
  SegmentReport report;
  io::RecordReader reader = file.Records();
  io::Record record;
  Roaring64Map pids;
  while (reader.Next(&record)) {
    ++report.frames;
    FrameParser parser(record.payload);
    FrameEntry entry;
    while (parser.Next(&entry)) {
      if (IsRecord(entry.kind) || entry.kind == EntryKind::kDelete) {
        pids.add(entry.pid.value());
        ++(entry.kind == EntryKind::kDelete ? report.deletes : report.upserts);
      } else if (entry.kind == EntryKind::kSummary) {
        std::string expected(pids.getSizeInBytes(), '\0');
        pids.write(expected.data());
        const bool agrees = entry.summary.upserts == report.upserts && entry.summary.deletes == report.deletes &&
                            entry.summary.pids == expected;
        report.summary = agrees ? "agrees" : "differs";
      }
    }
  }
  report.bytes = reader.tail().offset;
  report.end = reader.tail().end == io::LogEnd::kClean  ? "clean"
               : reader.tail().end == io::LogEnd::kTorn ? "torn"
                                                        : "damaged";
  return report;
}

void Write(const std::map<SegmentId, SegmentReport>& segments, const StoreContents& contents, bool json,
           std::ostream& out) {
  const std::string_view verdict = contents.damage.empty() ? "sound" : "damaged";
  if (json) {
    JsonWriter text;
    text.BeginObject().Add("verdict", verdict).Add("live_procedures", contents.index.size());
    text.Add("system_records", contents.system.size()).Add("max_pid", contents.max_pid.value());
    text.Key("segments").BeginArray();
    for (const auto& [id, report] : segments) {
      text.BeginObject().Add("name", SegmentName(id)).Add("role", report.role).Add("bytes", report.bytes);
      text.Add("frames", report.frames).Add("puts", report.upserts).Add("deletes", report.deletes);
      text.Add("summary", report.summary).Add("end", report.end).EndObject();
    }
    text.EndArray().Key("damage").BeginArray();
    for (const StoreDamage& damage : contents.damage) {
      text.BeginObject().Add("file", damage.file).Add("offset", damage.offset).Add("reason", damage.reason).EndObject();
    }
    out << text.EndArray().EndObject().text() << "\n";
    return;
  }
  out << fmt::format("{:<24} {:<16} {:>12} {:>8} {:>10} {:>10} {:>8} {:>8}\n", "SEGMENT", "ROLE", "BYTES", "FRAMES",
                     "PUTS", "DELETES", "SUMMARY", "END");
  for (const auto& [id, report] : segments) {
    out << fmt::format("{:<24} {:<16} {:>12} {:>8} {:>10} {:>10} {:>8} {:>8}\n", SegmentName(id), report.role,
                       report.bytes, report.frames, report.upserts, report.deletes, report.summary, report.end);
  }
  out << fmt::format("{} live procedures, {} system records, largest pid {}\n", contents.index.size(),
                     contents.system.size(), contents.max_pid);
  for (const std::string& note : contents.notes) out << "note: " << note << "\n";
  for (const StoreDamage& damage : contents.damage) out << "DAMAGE: " << damage.ToString() << "\n";
  out << "The store is " << verdict << ".\n";
}

}  // namespace

int Verify(io::Directory& store, bool json, std::ostream& out, std::ostream& err) {
  const auto names = store.List();
  ReadOptions read;
  read.on_damage = OnDamage::kSkip;
  auto contents = ReadStore(store, read);
  if (!names.ok() || !contents.ok()) {
    err << "ratchet-wal: " << (names.ok() ? contents.error() : names.error()).ToString() << "\n";
    return kExitDisk;
  }
  std::set<SegmentId> counts;
  for (const ChainEntry& link : contents->chain) counts.insert(link.id);
  std::map<SegmentId, SegmentReport> segments;
  for (const std::string& name : *names) {
    const auto id = ParseNumberedName(kSegmentPrefix, name);
    if (!id) continue;
    const auto file = SegmentFile::Open(store, *id);
    if (!file.ok()) continue;  // a live owner removed it
    SegmentReport report = Examine(*file);
    report.role = !counts.contains(*id) ? "does not count" : contents->chain.back().id == *id ? "open" : "closed";
    if (report.summary == "differs" && counts.contains(*id)) {
      contents->damage.push_back({name, report.bytes, "the summary at the end differs from the segment's records"});
    }
    segments.emplace(*id, std::move(report));
  }
  Write(segments, *contents, json, out);
  return contents->damage.empty() ? kExitOk : kExitDamage;
}

}  // namespace ratchet::procedure::tool
