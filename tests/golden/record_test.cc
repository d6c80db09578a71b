// Every record that any version of this code has stored stays readable, keeps its meaning, and is written back
// unchanged.
//
// records/NAME.txt has blocks: a line "hex ...", then its meaning as JSON, then an empty line. The newest block is the
// last.
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "master/procedures/register.h"
#include "procedure/api/lock_procedure.h"
#include "procedure/api/offline_store.h"
#include "procedure/api/pause_scope.h"
#include "procedure/api/procedure_registry.h"
#include "procedure/core/author_object.h"
#include "procedure/core/record.h"
#include "procedure/store/format.h"
#include "tests/golden/fill_message.h"
#include "tests/golden/golden_file.h"

namespace ratchet::golden {
namespace {

using procedure::Durable;
using procedure::Identity;
using procedure::PauseScope;

constexpr const char* kRecordMessage = "ratchet.procedure.pb.ProcedureRecord";

// Messages that are stored in addition to procedures' data: a system record, results that parents read.
constexpr std::array kOtherMessages = {"ratchet.master.pb.MetaLocation", "ratchet.master.pb.OrderResult"};

struct Block {
  std::string bytes;
  std::string meaning;
};

std::string FileOf(const std::string& name) { return "records/" + name + ".txt"; }

std::vector<Block> Blocks(const std::string& name) {
  std::vector<Block> blocks;
  std::istringstream file(Read(FileOf(name)));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("hex ")) {
      blocks.push_back({Unhex(line.substr(4)), ""});
    } else if (!line.empty() && !blocks.empty()) {
      blocks.back().meaning += line + "\n";
    }
  }
  return blocks;
}

// Expects that the file has the current encoding, or adds it.
void ExpectKnown(const std::string& name, const Block& today) {
  const std::vector<Block> blocks = Blocks(name);
  if (!blocks.empty() && blocks.back().bytes == today.bytes && blocks.back().meaning == today.meaning) return;
  if (Writing())
    return Write(FileOf(name), Read(FileOf(name)) + "hex " + Hex(today.bytes) + "\n" + today.meaning + "\n");
  ADD_FAILURE()
      << name << " is stored differently from what " << FileOf(name) << " says:\nhex " << Hex(today.bytes) << "\n"
      << today.meaning
      << "Stores hold the older form: it must stay readable. If so, run this test from the root of the project with "
         "RATCHET_GOLDEN_WRITE=1, which adds the new form, and look at the difference.";
}

Durable FullDurable(procedure::StepNo step, std::string data) {
  Durable durable;
  durable.state = procedure::ProcState::kRunnable;
  durable.step = step;
  durable.data = std::move(data);
  durable.locks = {Shared(procedure::ResourceKey::Namespace("ns")), Exclusive(procedure::ResourceKey::Table("ns:t"))};
  durable.undo = {{step, 10}};
  durable.error = Error(Code::kTimeout, "late", "Remote");
  durable.result = "result";
  durable.version = 9;
  durable.updated_ms = 1'700'000'000'500;
  procedure::StepHistoryEntry entry;
  entry.step = step;
  entry.epoch = Epoch(2);
  entry.worker = 3;
  entry.begin_ms = 1'700'000'000'100;
  entry.duration_us = 12;
  entry.outcome = procedure::OutcomeKind::kSpawn;
  entry.error = "e";
  entry.attempts = 4;
  durable.history.Add(entry, 1);
  durable.history_dropped = 1;
  durable.past_no_return = true;
  durable.parked = "why";
  durable.bypassed = true;
  durable.verbs = {{"abort", "who", "why", 77}};
  durable.spawn_round = 2;
  durable.resumed_round = 2;
  durable.children = 3;
  return durable;
}

std::string FullRecord(const procedure::ProcedureRegistry::Type& type, const std::string& data) {
  Identity id;
  id.pid = ProcId(1179);
  id.parent = ProcId(1176);
  id.root = ProcId(1176);
  id.type = type.name;
  id.data_version = type.make()->data_version();
  id.owner = "operator";
  id.nonce_group = 5;
  id.nonce = 6;
  id.submitted_ms = 1'700'000'000'000;
  id.child_round = 1;
  id.peer = "10.0.0.7:40112";
  id.method = "MasterService.CreateTable";
  return EncodeRecord(id, FullDurable(type.rows.front().number, data));
}

std::string MeaningOfRecord(const std::string& record, const std::string& message, const std::string& data) {
  return "record " + JsonOf(kRecordMessage, record) + "data " + JsonOf(message, data);
}

class GoldenRecordTest : public ::testing::Test {
 protected:
  GoldenRecordTest() {
    master::RegisterMasterProcedures(registry_);
    registry_.Register<procedure::LockProcedure>();
  }
  procedure::ProcedureRegistry registry_;
};

TEST_F(GoldenRecordTest, EveryTypeStoresWhatItsFileSays) {
  for (const auto* type : registry_.Types()) {
    const std::string data = FullMessage(type->data_message);
    const auto object = type->make();
    ASSERT_TRUE(object->ParseData(data)) << type->name;
    EXPECT_EQ(Hex(object->SerializeData()), Hex(data))
        << type->data_message << " is not the data message of " << type->name;
    const std::string record = FullRecord(*type, data);
    ExpectKnown(type->name, {record, MeaningOfRecord(record, type->data_message, data)});
  }
}

TEST_F(GoldenRecordTest, EveryRecordOfEveryVersionIsReadAndWrittenAsItWas) {
  for (const auto* type : registry_.Types()) {
    const std::string& name = type->name;
    const std::vector<Block> blocks = Blocks(name);
    EXPECT_FALSE(blocks.empty()) << FileOf(name) << " is missing; run from the root of the project";
    for (const Block& block : blocks) {
      const auto decoded = procedure::DecodeRecord(block.bytes);
      ASSERT_TRUE(decoded.ok()) << name << ": " << decoded.error().ToString();
      EXPECT_EQ(Hex(EncodeRecord(decoded->identity, decoded->durable)), Hex(block.bytes)) << name;
      EXPECT_EQ(MeaningOfRecord(block.bytes, type->data_message, decoded->durable.data), block.meaning) << name;
      EXPECT_EQ(decoded->identity.type, name);
      const auto object = procedure::MakeFromRecord(registry_, decoded->identity, decoded->durable.data);
      ASSERT_NE(object, nullptr) << name << " cannot be read any more";
      EXPECT_EQ(Hex(object->SerializeData()), Hex(decoded->durable.data)) << name;
      EXPECT_NE(object->FindRow(decoded->durable.step), nullptr) << name << " has lost a state";
    }
  }
}

// The check before an upgrade, over the data of all versions: each data of a type in each of its states.
TEST_F(GoldenRecordTest, CurrentVersionResumesEveryStoredRecord) {
  procedure::OfflineStore contents;
  for (const auto* type : registry_.Types()) {
    const std::string& name = type->name;
    for (const Block& block : Blocks(name)) {
      auto decoded = procedure::DecodeRecord(block.bytes);
      ASSERT_TRUE(decoded.ok()) << name;
      for (const procedure::StepRow& row : type->rows) {
        const ProcId pid(contents.records.size() + 1);
        decoded->identity.pid = pid;
        decoded->durable.step = row.number;
        contents.records.push_back({pid, 9, EncodeRecord(decoded->identity, decoded->durable)});
      }
    }
  }
  const procedure::ReplayReport report = ReplayRecords(registry_, contents);
  EXPECT_EQ(report.records, contents.records.size());
  EXPECT_EQ(report.unfinished, report.records);
  EXPECT_EQ(report.steps, report.records) << "one in each";
  for (const procedure::ReplayFinding& finding : report.findings) {
    // The fields of golden records have texts that no procedure stores.
    const auto says = [&finding](const char* text) { return finding.why.find(text) != std::string::npos; };
    if (!says("'server-0' is not a server name") && !says("unreadable description of a snapshot"))
      ADD_FAILURE() << finding.type << ": " << finding.why;
  }
}

// Records have the number of the state and, in undo lists, of all passed states: no number may change its meaning or be
// removed.
TEST_F(GoldenRecordTest, EveryStateKeepsItsNumberAndName) {
  const std::string file = FileOf("States");
  std::string today;
  for (const auto* type : registry_.Types()) {
    for (const procedure::StepRow& row : type->rows)
      today += fmt::format("{} {} {}\n", type->name, row.number, row.name);
  }
  std::istringstream known(Read(file));
  std::string kept;
  for (std::string line; std::getline(known, line);) {
    EXPECT_NE(today.find(line + "\n"), std::string::npos) << "stores hold this state: " << line;
    kept += line + "\n";
  }
  if (Writing() && !HasFailure()) return Write(file, today);
  EXPECT_EQ(kept, today) << "a new state: with RATCHET_GOLDEN_WRITE=1 it is added, and stays for ever";
}

TEST_F(GoldenRecordTest, OtherStoredMessages) {
  for (const std::string message : kOtherMessages) {
    const std::string name = message.substr(message.rfind('.') + 1);
    const std::string bytes = FullMessage(message);
    ExpectKnown(name, {bytes, JsonOf(message, bytes)});
    for (const Block& block : Blocks(name)) {
      EXPECT_EQ(JsonOf(message, block.bytes), block.meaning) << name;
      EXPECT_EQ(Hex(Reencoded(message, block.bytes)), Hex(block.bytes)) << name;
    }
  }
}

PauseScope ScopeOf(PauseScope::Kind kind) {
  PauseScope scope;
  scope.kind = kind;
  if (kind == PauseScope::Kind::kType) scope.type = "CreateTable";
  if (kind == PauseScope::Kind::kResource) scope.resource = procedure::ResourceKey::Region("ns:t", "56f9");
  if (kind == PauseScope::Kind::kProcedure) scope.pid = ProcId(1179);
  return scope;
}

TEST_F(GoldenRecordTest, Pauses) {
  using Kind = PauseScope::Kind;
  for (const Kind kind : {Kind::kEverything, Kind::kOrdinary, Kind::kType, Kind::kResource, Kind::kProcedure}) {
    procedure::PauseInfo pause;
    pause.scope = ScopeOf(kind);
    pause.who = "who";
    pause.why = "why";
    pause.at_ms = 1'700'000'000'000;
    const std::string name = fmt::format("Pause{}", static_cast<int>(kind));
    const std::string bytes = EncodePause(pause);
    const std::string key = PauseRecordKey(pause.scope) + "\n";
    ExpectKnown(name, {bytes, key + JsonOf("ratchet.procedure.pb.PauseRecord", bytes)});
    for (const Block& block : Blocks(name)) {
      const auto decoded = procedure::DecodePause(block.bytes);
      ASSERT_TRUE(decoded.ok()) << name;
      EXPECT_EQ(Hex(EncodePause(*decoded)), Hex(block.bytes)) << name;
      EXPECT_EQ(PauseRecordKey(decoded->scope) + "\n", block.meaning.substr(0, block.meaning.find('\n') + 1)) << name;
    }
  }
}

TEST_F(GoldenRecordTest, PauseLogKeepsUserAndScope) {
  const std::string bytes = procedure::EncodePauseLog({{false, "table ns:t", "who", "why", 1'700'000'000'000},
                                                       {true, "table ns:t", "else", "done", 1'700'000'000'500}});
  const std::string key = std::string(procedure::kPauseLogKey) + "\n";
  ExpectKnown("PauseLog", {bytes, key + JsonOf("ratchet.procedure.pb.PauseLogRecord", bytes)});
  for (const Block& block : Blocks("PauseLog")) {
    const auto decoded = procedure::DecodePauseLog(block.bytes);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(Hex(EncodePauseLog(*decoded)), Hex(block.bytes));
  }
}

// ---- the store's frames ----

std::string SegmentText(const procedure::SegmentId& id) { return fmt::format("{}.{}", id.epoch.value(), id.number); }

std::string EntryText(const procedure::FrameEntry& entry) {
  using Kind = procedure::EntryKind;
  switch (entry.kind) {
    case Kind::kBatch: return fmt::format("batch sequence={}", entry.sequence);
    case Kind::kUpsert: return fmt::format("upsert pid={} version={} bytes={}", entry.pid, entry.version, entry.bytes);
    case Kind::kRewrite:
      return fmt::format("rewrite pid={} version={} bytes={}", entry.pid, entry.version, entry.bytes);
    case Kind::kCopy: return fmt::format("copy pid={} version={} bytes={}", entry.pid, entry.version, entry.bytes);
    case Kind::kDelete: return fmt::format("delete pid={}", entry.pid);
    case Kind::kSystemPut: return fmt::format("system put {}={}", entry.key, entry.bytes);
    case Kind::kSystemDelete: return fmt::format("system delete {}", entry.key);
    case Kind::kLowWater: return fmt::format("low water {}", SegmentText(entry.segment));
    case Kind::kStart: {
      std::string text = fmt::format("start {} max_pid={} low_water={} owner={}", SegmentText(entry.start.id),
                                     entry.start.max_pid, SegmentText(entry.start.low_water), entry.start.owner);
      for (const procedure::ChainEntry& link : entry.start.chain) {
        text += fmt::format("; {} length={} last_sequence={}{}", SegmentText(link.id), link.length, link.last_sequence,
                            link.copied ? " copied" : "");
      }
      return text;
    }
    case Kind::kSummary:
      return fmt::format("summary upserts={} deletes={} pids={}", entry.summary.upserts, entry.summary.deletes,
                         entry.summary.pids);
  }
  return "?";
}

std::string FrameText(const std::string& bytes) {
  procedure::FrameParser parser(bytes);
  std::string text = fmt::format("kind {:08x} record {} version {}\nwall clock {} ms\n", procedure::kStoreLogKind,
                                 procedure::kFrameRecord, procedure::kFrameVersion, parser.wall_millis());
  procedure::FrameEntry entry;
  while (parser.Next(&entry)) text += EntryText(entry) + "\n";
  EXPECT_TRUE(parser.ok());
  return text;
}

TEST_F(GoldenRecordTest, FramesOfTheStore) {
  std::string bytes;
  procedure::FrameBuilder frame(bytes, 1'700'000'000'000);
  const procedure::SegmentId older{Epoch(6), 300};
  const procedure::SegmentId open{Epoch(6), 301};
  frame.Start({{Epoch(7), 1}, ProcId(1179), older, {{older, 70'000, 500, false}, {open, 129, 512, true}}, "master-1"});
  frame.Copy(ProcId(1176), 9, "copied");
  frame.Batch(513);
  frame.Upsert(ProcId(1179), 1, "record");
  frame.Delete(ProcId(5));
  frame.SystemPut("meta/location", "value");
  frame.SystemDelete("server/a,1,2");
  frame.Batch(514);
  frame.Rewrite(ProcId(128), 300, "again");
  frame.LowWater(open);
  frame.Summary({3, 1, "bitmap"});
  ExpectKnown("StoreFrame", {bytes, FrameText(bytes)});
  for (const Block& block : Blocks("StoreFrame")) EXPECT_EQ(FrameText(block.bytes), block.meaning);
}

}  // namespace
}  // namespace ratchet::golden
