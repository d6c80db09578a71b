// Facts as a host of procedures would have them, assembled by hand.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "procedure/ops/why/answer.h"
#include "procedure/ops/why/chain.h"

namespace ratchet::host {

class WhyTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kNow = 1'000'000;
  using Kind = procedure::WaitingOn::Kind;

  WhyTest() {
    facts_.self = "m,1,1";
    facts_.now_ms = kNow;
  }
  // A procedure that waits since `age` ms.
  procedure::ProcedureInfo& Procedure(std::uint64_t pid, const std::string& type, Kind kind, std::int64_t age = 9'000) {
    procedure::ProcedureInfo& info = facts_.procedures[ProcId(pid)];
    info.pid = ProcId(pid);
    info.type = type;
    info.step_name = "STEP";
    info.owner = "ann";
    info.description.Add("table", "t" + std::to_string(pid));
    info.updated_ms = kNow - age;
    info.waiting.kind = kind;
    return info;
  }
  procedure::ProcedureInfo& WaitsFor(std::uint64_t pid, Kind kind, const std::string& detail,
                                     std::initializer_list<std::uint64_t> pids) {
    auto& info = Procedure(pid, "DisableTable", kind);
    info.waiting.detail = detail;
    for (const std::uint64_t each : pids) info.waiting.procedures.push_back(ProcId(each));
    return info;
  }
  ::ratchet::pb::WhyChain ChainOf(std::uint64_t pid) {
    auto chain = ChainOfProcedure(facts_, WhyHost(facts_), ProcId(pid));
    EXPECT_TRUE(chain.has_value());
    return chain.value_or(::ratchet::pb::WhyChain());
  }
  Result<::ratchet::pb::WhyResponse> Answer(const std::string& subject, std::size_t limit) {
    return AnswerWhy(WhyHost(facts_), subject, limit);
  }
  ::ratchet::pb::WhyResponse Cluster(std::size_t limit = 10) {
    auto answer = Answer("", limit);
    EXPECT_TRUE(answer.ok());
    return answer.ok() ? *answer : ::ratchet::pb::WhyResponse();
  }
  static std::string Kinds(const ::ratchet::pb::WhyChain& chain) {
    std::string text;
    for (const auto& link : chain.link()) text += (text.empty() ? "" : " ") + link.kind();
    return text;
  }

  WhyFacts facts_;
};

}  // namespace ratchet::host
