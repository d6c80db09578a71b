#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/base/json_writer.h"
#include "common/io/record_log.h"
#include "procedure/store/format.h"
#include "procedure/store/tool/wal_tool.h"

namespace ratchet::procedure::tool {
namespace {

std::string_view KindName(EntryKind kind) {
  switch (kind) {
    case EntryKind::kBatch: return "batch";
    case EntryKind::kUpsert: return "put";
    case EntryKind::kDelete: return "delete";
    case EntryKind::kSystemPut: return "system put";
    case EntryKind::kSystemDelete: return "system delete";
    case EntryKind::kLowWater: return "low water";
    case EntryKind::kStart: return "start";
    case EntryKind::kSummary: return "summary";
    case EntryKind::kRewrite: return "rewrite";
    case EntryKind::kCopy: return "copy";
  }
  return "?";
}

// Returns the fields of one entry after its kind.
std::string Fields(const FrameEntry& entry) {
  switch (entry.kind) {
    case EntryKind::kBatch: return "";
    case EntryKind::kUpsert:
    case EntryKind::kRewrite:
    case EntryKind::kCopy:
      return fmt::format(" pid={}, version={}, {}", entry.pid, entry.version, DescribeProcedure(entry.bytes));
    case EntryKind::kDelete: return fmt::format(" pid={}", entry.pid);
    case EntryKind::kSystemPut: return fmt::format(" {} ({} bytes)", entry.key, entry.bytes.size());
    case EntryKind::kSystemDelete: return fmt::format(" {}", entry.key);
    case EntryKind::kLowWater: return fmt::format(" {}", SegmentName(entry.segment));
    case EntryKind::kStart: {
      std::vector<std::string> chain;
      for (const ChainEntry& link : entry.start.chain) {
        chain.push_back(fmt::format("{} to {}{}", SegmentName(link.id), link.length, link.copied ? " copied" : ""));
      }
      return fmt::format(" max_pid={}, low_water={}, older: [{}], owner={}", entry.start.max_pid,
                         SegmentName(entry.start.low_water), fmt::join(chain, ", "), entry.start.owner);
    }
    case EntryKind::kSummary: return fmt::format(" {} puts, {} deletes", entry.summary.upserts, entry.summary.deletes);
  }
  return "";
}

// Adds the same fields as members of the JSON object.
void AddFields(JsonWriter& json, const FrameEntry& entry) {
  switch (entry.kind) {
    case EntryKind::kBatch: break;
    case EntryKind::kUpsert:
    case EntryKind::kRewrite:
    case EntryKind::kCopy:
      json.Add("pid", entry.pid.value()).Add("version", entry.version);
      json.AddRaw("procedure", ProcedureJson(entry.bytes));
      break;
    case EntryKind::kDelete: json.Add("pid", entry.pid.value()); break;
    case EntryKind::kSystemPut: json.Add("key", entry.key).Add("value_bytes", entry.bytes.size()); break;
    case EntryKind::kSystemDelete: json.Add("key", entry.key); break;
    case EntryKind::kLowWater: json.Add("segment", SegmentName(entry.segment)); break;
    case EntryKind::kStart:
      json.Add("max_pid", entry.start.max_pid.value()).Add("low_water", SegmentName(entry.start.low_water));
      json.Key("chain").BeginArray();
      for (const ChainEntry& link : entry.start.chain) {
        json.BeginObject().Add("segment", SegmentName(link.id)).Add("length", link.length);
        if (link.copied) json.Add("copied", true);
        json.EndObject();
      }
      json.EndArray().Add("owner", entry.start.owner);
      break;
    case EntryKind::kSummary: json.Add("upserts", entry.summary.upserts).Add("deletes", entry.summary.deletes); break;
  }
}

class Printer {
 public:
  Printer(const PrintOptions& options, const StoreContents& contents, std::ostream& out)
      : options_(options), out_(out) {
    for (const ChainEntry& link : contents.chain) counts_.insert(link.id);
    if (contents.has_head) head_ = contents.chain.back().id;
  }

  // Returns false if a part of the segment cannot be read.
  bool PrintSegment(const SegmentFile& file) {
    const SegmentId id = file.id();
    if (!options_.json && !options_.pid) {
      out_ << "== " << SegmentName(id)
           << (counts_.contains(id) ? (id == head_ ? " (open)" : "") : " (no longer counts)") << "\n";
    }
    io::RecordReader reader = file.Records();
    io::Record record;
    for (;;) {
      while (reader.Next(&record)) PrintFrame(id, record);
      const io::LogTail& tail = reader.tail();
      if (tail.end == io::LogEnd::kTorn) PrintNote(id, tail.offset, "torn tail: " + tail.reason);
      if (tail.end != io::LogEnd::kDamage) return true;
      PrintNote(id, tail.offset, "DAMAGE: " + tail.reason);
      if (!reader.SkipDamage()) return false;
      damaged_ = true;
    }
  }
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  void PrintFrame(SegmentId id, const io::Record& record) {
    FrameParser parser(record.payload);
    if (parser.wall_millis() < options_.since_ms || parser.wall_millis() > options_.until_ms) return;
    FrameEntry entry;
    std::uint64_t sequence = 0;
    while (parser.Next(&entry)) {
      if (entry.kind == EntryKind::kBatch) sequence = entry.sequence;
      const bool has_pid = IsRecord(entry.kind) || entry.kind == EntryKind::kDelete;
      if (options_.pid && (!has_pid || entry.pid.value() != *options_.pid)) continue;
      if (entry.kind == EntryKind::kBatch) continue;
      if (options_.json) {
        JsonWriter json;
        json.BeginObject().Add("segment", SegmentName(id)).Add("offset", record.offset);
        json.Add("time", FormatTime(parser.wall_millis())).Add("sequence", sequence).Add("kind", KindName(entry.kind));
        AddFields(json, entry);
        out_ << json.EndObject().text() << "\n";
      } else {
        out_ << fmt::format("{} {}@{} #{} {}{}\n", FormatTime(parser.wall_millis()), SegmentName(id), record.offset,
                            sequence, KindName(entry.kind), Fields(entry));
      }
    }
    if (!parser.ok()) PrintNote(id, record.offset, "DAMAGE: the frame cannot be decoded");
  }

  void PrintNote(SegmentId id, std::uint64_t offset, const std::string& text) {
    if (options_.json) {
      JsonWriter json;
      json.BeginObject().Add("segment", SegmentName(id)).Add("offset", offset).Add("note", text).EndObject();
      out_ << json.text() << "\n";
    } else {
      out_ << fmt::format("   {}@{} {}\n", SegmentName(id), offset, text);
    }
  }

  const PrintOptions& options_;
  std::ostream& out_;
  std::set<SegmentId> counts_;
  SegmentId head_;
  bool damaged_ = false;
};

}  // namespace

int Print(io::Directory& store, const PrintOptions& options, std::ostream& out, std::ostream& err) {
  const auto names = store.List();
  ReadOptions read;
  read.on_damage = OnDamage::kSkip;
  read.order = RecordOrder::kAny;
  const auto contents = ReadStore(store, read);
  if (!names.ok() || !contents.ok()) {
    err << "ratchet-wal: " << (names.ok() ? contents.error() : names.error()).ToString() << "\n";
    return kExitDisk;
  }
  std::set<SegmentId> segments;
  for (const std::string& name : *names) {
    if (const auto id = ParseNumberedName(kSegmentPrefix, name)) segments.insert(*id);
  }
  Printer printer(options, *contents, out);
  bool readable = true;
  for (const SegmentId id : segments) {
    const auto file = SegmentFile::Open(store, id);
    if (!file.ok()) {  // perhaps removed by a live owner meanwhile
      err << "ratchet-wal: " << file.error().ToString() << "\n";
      readable = false;
      continue;
    }
    readable = printer.PrintSegment(*file) && readable;
  }
  return readable && !printer.damaged() ? kExitOk : kExitDamage;
}

}  // namespace ratchet::procedure::tool
