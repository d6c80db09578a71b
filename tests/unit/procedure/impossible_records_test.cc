// Loads records that are well-formed but impossible: no process ends, and every later request of an operator is
// answered, S55 (checked input).
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "procedure/api/record.pb.h"
#include "procedure/core/record.h"
#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using ::ratchet::testing::pb::Script;

constexpr std::size_t kBytesOfMany = 64;

// Changes fields of any message: to the limits of their types, to nothing, to another field's value.
class Spoiler {
 public:
  explicit Spoiler(Prng& prng) : prng_(prng) {}

  void Spoil(Message& message) {
    const auto& type = *message.GetDescriptor();
    const auto& field = *type.field(static_cast<int>(prng_.Below(static_cast<std::uint64_t>(type.field_count()))));
    const auto& reflection = *message.GetReflection();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) return SpoilMessages(message, field);
    if (prng_.Chance(1, 5)) return reflection.ClearField(&message, &field);
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_UINT64: reflection.SetUInt64(&message, &field, Number()); break;
      case FieldDescriptor::CPPTYPE_UINT32:
        reflection.SetUInt32(&message, &field, static_cast<std::uint32_t>(Number()));
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        reflection.SetInt64(&message, &field, static_cast<std::int64_t>(Number()));
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        reflection.SetInt32(&message, &field, static_cast<std::int32_t>(Number()));
        break;
      case FieldDescriptor::CPPTYPE_BOOL: reflection.SetBool(&message, &field, prng_.Chance(1, 2)); break;
      case FieldDescriptor::CPPTYPE_STRING: reflection.SetString(&message, &field, Text()); break;
      default: break;
    }
  }
  std::uint64_t Number() {
    constexpr std::array<std::uint64_t, 8> kEdges{0, 1, 2, INT64_MAX, 1ULL << 63, UINT64_MAX, UINT32_MAX, 7};
    return prng_.Chance(1, 2) ? kEdges[prng_.Below(kEdges.size())] : prng_.Below(12);
  }

 private:
  void SpoilMessages(Message& message, const FieldDescriptor& field) {
    const auto& reflection = *message.GetReflection();
    if (!field.is_repeated()) return Spoil(*reflection.MutableMessage(&message, &field));
    const int size = reflection.FieldSize(message, &field);
    if (size == 0 || prng_.Chance(1, 3)) {
      Message& added = *reflection.AddMessage(&message, &field);
      if (size > 0 && prng_.Chance(1, 2)) added.CopyFrom(reflection.GetRepeatedMessage(message, &field, 0));
      return Spoil(added);
    }
    if (prng_.Chance(1, 4)) return reflection.RemoveLast(&message, &field);
    Spoil(*reflection.MutableRepeatedMessage(&message, &field,
                                             static_cast<int>(prng_.Below(static_cast<std::uint64_t>(size)))));
  }
  std::string Text() {
    switch (prng_.Below(5)) {
      case 0: return {};
      case 1: return "ScriptNoReturn";
      case 2: return "ScriptUndo";
      case 3: return std::string(kBytesOfMany, '\xff');
      default: return "a";
    }
  }
  Prng& prng_;
};

class ImpossibleRecordsTest : public ExecutorTest {
 protected:
  // Trees in many states: waiting, with children, undoing, parked, ended.
  void MakeTrees() {
    const Script waits = ScriptOf("", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "e"), Op(Kind::NEXT)});
    const Script ends = ScriptOf("", {Op(Kind::NEXT)});
    (void)Submit(WithLock(ScriptOf("a", {Op(Kind::NEXT), SpawnOp({waits, ends}), Op(Kind::NEXT)}), "t1", true, true),
                 {1, 1});
    (void)Submit(WithFlavor(ScriptOf("b", {SpawnOp({waits}), Op(Kind::NEXT)}), "ScriptNoReturn"));
    (void)Submit(WithLock(ScriptOf("c", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "f")}), "t1", true));
    (void)Submit(ends);
    Run();
  }
  void SpoilRecords(Prng& prng) {
    Spoiler spoiler(prng);
    MutexLock lock(disk_.mutex);
    for (auto& [pid, stored] : disk_.records) {
      if (prng.Chance(1, 3)) continue;
      pb::ProcedureRecord record;
      ASSERT_TRUE(record.ParseFromString(stored.bytes));
      for (std::uint64_t n = 1 + prng.Below(3); n > 0; --n) spoiler.Spoil(record);
      stored.bytes = record.SerializeAsString();
    }
    for (auto& [key, value] : disk_.system_records) {
      if (prng.Chance(1, 3)) value = std::string(prng.Below(20), static_cast<char>(prng.Below(256)));
    }
    if (prng.Chance(1, 4)) disk_.records.erase(ProcId(1 + prng.Below(6)));
  }
  void LoadAnotherVersion() {
    (void)Submit(ScriptOf("p", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "e")}));
    (void)Submit(ScriptOf("q", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "e")}));
    Run();
    {
      MutexLock lock(disk_.mutex);
      ProcedureUpsert& stored = disk_.records.at(ProcId(1));
      auto decoded = DecodeRecord(stored.bytes);
      ASSERT_TRUE(decoded.ok());
      decoded->durable.version += 5;
      stored.bytes = EncodeRecord(decoded->identity, decoded->durable);
    }
    NewMaster();
    Run();
  }
  void UseEveryVerb(Prng& prng) {
    const OperatorNote note{"op", "it cannot be"};
    const auto heard = [](const Status&) {};
    std::vector<ProcId> pids;
    for (const ProcedureInfo& info : executor().List()) pids.push_back(info.pid);
    for (const ProcId pid : pids) {
      switch (prng.Below(7)) {
        case 0: executor().Abort(pid, note, heard); break;
        case 3: executor().Park(pid, note, heard); break;
        case 4: executor().Rerun(pid, static_cast<StepNo>(prng.Below(4)), note, heard); break;
        case 1: executor().Bypass(pid, prng.Chance(1, 2), note, heard); break;
        case 2: (void)Deliver(pid, "a report"); break;
        default: (void)executor().GetResult(pid); break;
      }
      Run();
    }
    journal_.FirstTime("event:e");
    executor().Wake({"e"});
    executor().Wake({"f"});
    for (int i = 0; i < 50 && time_.RunNext(); ++i) Run();
  }
};

TEST_F(ImpossibleRecordsTest, AnyOfThemIsSurvived) {
  const std::uint64_t seed = RandomSeed();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Prng prng(seed);
  constexpr int kRounds = 400;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    {
      MutexLock lock(disk_.mutex);
      disk_.records.clear();
      disk_.system_records.clear();
    }
    NewMaster();
    MakeTrees();
    SpoilRecords(prng);
    NewMaster();
    Run();
    UseEveryVerb(prng);
    NewMaster();  // the results can be read, too
    Run();
  }
}

// Requests a lock that its data names, as procedures of servers do.
class Unusable final : public StateMachineProcedure<Unusable, Script> {
 public:
  static constexpr std::string_view kTypeName = "Unusable";
  static constexpr auto Steps() { return std::array{On<&Unusable::Only>(1, "ONLY", kNothingToUndo)}; }
  using StateMachineProcedure::StateMachineProcedure;
  static inline bool throws_in_locks = false;
  static inline bool throws_when_recovered = false;
  [[nodiscard]] LockSet Locks() const override {
    if (throws_in_locks) throw std::invalid_argument("no such server");
    return {};
  }
  void OnRecovered(const EnvRef& /*env*/) override {
    if (throws_when_recovered) throw std::invalid_argument("no such worker");
  }

 private:
  StepOutcome Only(StepContext& ctx) { return Await{ctx.TakeTicket({"never"}), std::nullopt}; }
};

TEST_F(ImpossibleRecordsTest, WhatItsAuthorCannotWorkWithIsParked) {
  registry_.Register<Unusable>();
  const Result<ProcId> pid = executor().Submit(std::make_unique<Unusable>(), {"me", {}, {}});
  ASSERT_TRUE(pid.ok());
  (void)Submit(ScriptOf("q", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "e")}));
  Run();
  for (bool* throws : {&Unusable::throws_in_locks, &Unusable::throws_when_recovered}) {
    *throws = true;
    NewMaster();
    Run();
    *throws = false;
    EXPECT_NE(Info(*pid).parked.find("no such"), std::string::npos) << Info(*pid).parked;
    EXPECT_TRUE(Info(ProcId(2)).parked.empty());
  }
  journal_.FirstTime("event:e");
  executor().Wake({"e"});
  Run();
  EXPECT_EQ(Outcome(ProcId(2)), "success: q") << "the other one continues";
}

// Each of these kept every later master from becoming active: the first commit was refused as out of order, or the next
// pid was 0.
TEST_F(ImpossibleRecordsTest, ARecordThatDisagreesWithItsFrameIsParked) {
  LoadAnotherVersion();
  EXPECT_NE(Info(ProcId(1)).parked.find("version"), std::string::npos) << Info(ProcId(1)).parked;
  journal_.FirstTime("event:e");
  executor().Wake({"e"});
  Run();
  EXPECT_EQ(Outcome(ProcId(2)), "success: q") << "the other one continues";
  Status answer = Error(Code::kInternal, "unanswered");
  executor().Bypass(ProcId(1), false, {"op", "given up"}, [&answer](const Status& status) { answer = status; });
  Run();
  EXPECT_TRUE(answer.ok()) << answer.error().ToString();
}

TEST_F(ImpossibleRecordsTest, ATreeThatItsRecordDoesNotBelongToIsNoTree) {
  (void)Submit(ScriptOf("p", {SpawnOp({ScriptOf("", {Op(Kind::AWAIT_EVENT, "e")})}), Op(Kind::NEXT)}));
  Run();
  {
    MutexLock lock(disk_.mutex);
    ProcedureUpsert& stored = disk_.records.at(ProcId(2));
    auto decoded = DecodeRecord(stored.bytes);
    ASSERT_TRUE(decoded.ok());
    decoded->identity.root = ProcId(77);
    stored.bytes = EncodeRecord(decoded->identity, decoded->durable);
  }
  NewMaster();
  Run();
  EXPECT_NE(Info(ProcId(2)).parked.find("root"), std::string::npos) << Info(ProcId(2)).parked;
}

#if defined(RATCHET_MUTANTS)
TEST_F(ImpossibleRecordsTest, BelievingThemIsNoticed) {
  const ScopedMutant mutant("procedure.trust_records");
  LoadAnotherVersion();
  EXPECT_TRUE(Info(ProcId(1)).parked.empty());
}
#endif

}  // namespace
}  // namespace ratchet::procedure
