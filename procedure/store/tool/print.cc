#include <ostream>
#include <set>

#include <fmt/format.h>

#include "common/base/json_quote.h"
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

// Writes the fields of one entry after its kind, or the same as JSON members.
std::string Fields(const FrameEntry& entry, bool json) {
  switch (entry.kind) {
    case EntryKind::kBatch: return "";
    case EntryKind::kUpsert:
    case EntryKind::kRewrite:
    case EntryKind::kCopy:
      return fmt::format(fmt::runtime(json ? ",\"pid\":{},\"version\":{},\"procedure\":{}" : " pid={}, version={}, {}"),
                         entry.pid, entry.version, DescribeProcedure(entry.bytes, json));
    case EntryKind::kDelete: return fmt::format(fmt::runtime(json ? ",\"pid\":{}" : " pid={}"), entry.pid);
    case EntryKind::kSystemPut:
      return json ? fmt::format(",\"key\":{},\"value_bytes\":{}", JsonQuote(entry.key), entry.bytes.size())
                  : fmt::format(" {} ({} bytes)", entry.key, entry.bytes.size());
    case EntryKind::kSystemDelete: return json ? ",\"key\":" + JsonQuote(entry.key) : fmt::format(" {}", entry.key);
    case EntryKind::kLowWater:
      return fmt::format(fmt::runtime(json ? ",\"segment\":\"{}\"" : " {}"), SegmentName(entry.segment));
    case EntryKind::kStart: {
      std::string chain;
      for (const ChainEntry& link : entry.start.chain) {
        const std::string_view copied = link.copied ? (json ? ",\"copied\":true" : " copied") : "";
        chain += fmt::format(fmt::runtime(json ? "{}{{\"segment\":\"{}\",\"length\":{}{}}}" : "{}{} to {}{}"),
                             chain.empty() ? ""
                             : json        ? ","
                                           : ", ",
                             SegmentName(link.id), link.length, copied);
      }
      return fmt::format(fmt::runtime(json ? ",\"max_pid\":{},\"low_water\":\"{}\",\"chain\":[{}],\"owner\":{}"
                                           : " max_pid={}, low_water={}, older: [{}], owner={}"),
                         entry.start.max_pid, SegmentName(entry.start.low_water), chain,
                         json ? JsonQuote(entry.start.owner) : entry.start.owner);
    }
    case EntryKind::kSummary:
      return fmt::format(fmt::runtime(json ? ",\"upserts\":{},\"deletes\":{}" : " {} puts, {} deletes"),
                         entry.summary.upserts, entry.summary.deletes);
  }
  return "";
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
        out_ << fmt::format("{{\"segment\":\"{}\",\"offset\":{},\"time\":\"{}\",\"sequence\":{},\"kind\":\"{}\"{}}}\n",
                            SegmentName(id), record.offset, FormatTime(parser.wall_millis()), sequence,
                            KindName(entry.kind), Fields(entry, true));
      } else {
        out_ << fmt::format("{} {}@{} #{} {}{}\n", FormatTime(parser.wall_millis()), SegmentName(id), record.offset,
                            sequence, KindName(entry.kind), Fields(entry, false));
      }
    }
    if (!parser.ok()) PrintNote(id, record.offset, "DAMAGE: the frame cannot be decoded");
  }

  void PrintNote(SegmentId id, std::uint64_t offset, const std::string& text) {
    if (options_.json) {
      out_ << fmt::format("{{\"segment\":\"{}\",\"offset\":{},\"note\":{}}}\n", SegmentName(id), offset,
                          JsonQuote(text));
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
