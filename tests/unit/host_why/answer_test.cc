// Complete answers of a host of procedures: roots, subjects, limits.
#include "tests/unit/host_why/fixture.h"

namespace ratchet::host {
namespace {

TEST_F(WhyTest, NothingWaits) {
  const auto answer = Cluster();
  EXPECT_EQ(answer.chain_size(), 0);
  EXPECT_EQ(answer.verdict(), "nothing waits");
}

TEST_F(WhyTest, OneCauseIsShownOnceWithTheLongestWait) {
  Procedure(7, "LockProcedure", Kind::kEvent);
  WaitsFor(10, Kind::kLock, "table t", {7});
  WaitsFor(11, Kind::kLock, "table t", {7}).updated_ms = kNow - 60'000;
  WaitsFor(12, Kind::kLock, "table t", {7});
  const auto answer = Cluster();
  ASSERT_EQ(answer.chain_size(), 1);
  EXPECT_EQ(answer.chain(0).more(), 2U);
  EXPECT_EQ(answer.chain(0).link(0).subject().substr(0, 6), "pid 11");
  EXPECT_NE(answer.verdict().find("3 things wait, the longest for 60.0 s"), std::string::npos) << answer.verdict();
}

TEST_F(WhyTest, TenThousandCausesAreBounded) {
  for (std::uint64_t pid = 1; pid <= 10'000; ++pid) {
    auto& info = Procedure(pid, "CreateTable", Kind::kOperator, static_cast<std::int64_t>(pid));
    info.parked = "look";
  }
  const auto answer = Cluster(3);
  ASSERT_EQ(answer.chain_size(), 3);
  EXPECT_EQ(answer.left_out(), 9'997U);
  EXPECT_EQ(answer.chain(0).link(0).for_ms(), 10'000U) << "the longest first";
}

TEST_F(WhyTest, WhatHasJustBegunToWaitIsNoWaitOfTheCluster) {
  Procedure(1, "CreateTable", Kind::kEvent, 20);
  EXPECT_EQ(Cluster().chain_size(), 0);
  const auto asked = Answer("1", 5);
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(asked->chain_size(), 1) << "asked for by its pid it is shown";
}

TEST_F(WhyTest, PauseThatAProcedureShowsIsNotShownTwice) {
  auto& info = Procedure(2, "CreateTable", Kind::kPaused);
  info.waiting.detail = "everything paused by ann: night";
  facts_.pauses.push_back({info.waiting.detail, "everything", 60'000});
  const auto answer = Cluster();
  ASSERT_EQ(answer.chain_size(), 1);
  EXPECT_EQ(answer.chain(0).more(), 0U);
  EXPECT_EQ(answer.chain(0).link(0).kind(), "procedure");
}

TEST_F(WhyTest, AHostOfProceduresAloneMissesNoServer) {
  EXPECT_EQ(Cluster().verdict(), "nothing waits");
  Procedure(7, "PublishSite", Kind::kEvent).waiting.detail = "the answer of a machine";
  EXPECT_EQ(ChainOf(7).cause(), "OUTSIDE");
  const auto unknown = Answer("t", 10);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message(), "'t' is not a pid; 'ratchet procedures' lists them");
}

TEST_F(WhyTest, AProcedureThatKeepsFailingIsAsOldAsItIs) {
  auto& info = Procedure(1, "CompactTable", Kind::kRetry, 100);
  info.submitted_ms = kNow - 40'000;
  facts_.setbacks[ProcId(1)].error = "region ab is not compacted: block checksum mismatch";
  EXPECT_EQ(Cluster().chain_size(), 0) << "it may be over in a moment";
  facts_.setbacks[ProcId(1)].repeated = true;
  const auto answer = Cluster();
  ASSERT_EQ(answer.chain_size(), 1);
  EXPECT_EQ(answer.chain(0).link(0).for_ms(), 40'000U);
  EXPECT_NE(answer.verdict().find("block checksum mismatch"), std::string::npos) << answer.verdict();
}

// A host that runs procedures for machines: it continues a chain to a machine, and from there back to a procedure.
class MachineHost final : public WhyHost {
 public:
  using WhyHost::WhyHost;
  bool ExplainExternal(const procedure::ProcedureInfo& info, ::ratchet::pb::WhyLink& link,
                       ChainBuilder& chain) const override {
    if (info.description.Get("machine").empty()) return false;
    link.set_waits_for("machine m1");
    chain.AddLink("machine", "machine m1", 70).set_waits_for("its repair: pid 20");
    chain.FollowProcedure(ProcId(20));
    return true;
  }
  Result<std::string> RootsOf(const std::string& text, WhyRoots& roots) const override {
    if (text != "m1") return WhyHost::RootsOf(text, roots);
    roots.Add(OneLink("machine", "machine m1", "power", 70, {WhyCause::kOutside, "it is off"}));
    return std::string("machine m1");
  }
};

TEST_F(WhyTest, HostContinuesAChainAndComesBackToProcedures) {
  Procedure(1, "PublishSite", Kind::kEvent).description = procedure::Description().Add("machine", "m1");
  Procedure(2, "PublishSite", Kind::kRetry).description = procedure::Description().Add("machine", "m1");
  Procedure(3, "PublishSite", Kind::kRetry).description = procedure::Description().Add("machine", "m1");
  facts_.procedures[ProcId(3)].failing = true;
  Procedure(20, "RepairMachine", Kind::kOperator).parked = "look";
  const MachineHost host(facts_);
  const auto chain = ChainOfProcedure(facts_, host, ProcId(1)).value_or(::ratchet::pb::WhyChain());
  EXPECT_EQ(Kinds(chain), "procedure machine procedure");
  EXPECT_EQ(chain.cause(), "PARKED");
  EXPECT_EQ(chain.link(1).for_ms(), 70U);
  const auto next_try = ChainOfProcedure(facts_, host, ProcId(2)).value_or(::ratchet::pb::WhyChain());
  EXPECT_EQ(next_try.cause(), "PARKED") << "a wait for the next try is explained, too";
  const auto undo = ChainOfProcedure(facts_, host, ProcId(3)).value_or(::ratchet::pb::WhyChain());
  EXPECT_EQ(undo.cause(), "UNDO_FAILS") << "an undo that fails is its own cause";
}

TEST_F(WhyTest, DeadlockThroughAHostEndsTheChain) {
  Procedure(20, "PublishSite", Kind::kEvent).description = procedure::Description().Add("machine", "m1");
  const auto chain = ChainOfProcedure(facts_, MachineHost(facts_), ProcId(20)).value_or(::ratchet::pb::WhyChain());
  EXPECT_EQ(chain.cause(), "RING");
  EXPECT_EQ(Kinds(chain), "procedure machine procedure");
}

TEST_F(WhyTest, HostAnswersForItsOwnSubjects) {
  const MachineHost host(facts_);
  const auto machine = AnswerWhy(host, "m1", 5);
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(machine->subject(), "machine m1");
  EXPECT_EQ(machine->verdict(), "1 thing waits, the longest for 70 ms: machine m1: it is off");
  const auto pid = AnswerWhy(host, "pid 17", 5);
  ASSERT_TRUE(pid.ok());
  EXPECT_EQ(pid->subject(), "pid 17 (no unfinished procedure has this number)");
  EXPECT_EQ(AnswerWhy(host, "m2", 5).error().code(), Code::kNotFound);
}

}  // namespace
}  // namespace ratchet::host
