// The audit log as the RPC server uses it: many threads, floods, a full and a hanging disk.
#include "common/audit/audit_log.h"

#include <atomic>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "common/audit/verify.h"
#include "common/model/proto/hbck.pb.h"
#include "common/model/proto/master.pb.h"
#include "tests/support/sim_disk.h"

namespace ratchet::audit {
namespace {

using io::SimDisk;

bool Eventually(const std::function<bool()>& condition) {
  const SystemClock clock;
  for (const TimePoint until = clock.Now() + Millis(10'000); clock.Now() < until; std::this_thread::yield())
    if (condition()) return true;
  return condition();
}

class AuditLogTest : public ::testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open(AuditLimits limits = {64U << 20, 16, 16'384}) {
    log_.reset();
    process_ = disk_.NewProcess();
    auto opened = AuditLog::Open(*process_, "/audit", limits, "host", "master");
    ASSERT_TRUE(opened.ok()) << opened.error().ToString();
    log_ = *opened;
  }
  // The answer of one change: 0 pending, 1 allowed, 2 refused.
  std::shared_ptr<std::atomic<int>> Ask(const std::string& method, const std::string& table = "t") {
    rpc::CallContext call;
    call.service = "MasterService";
    call.method = method;
    hbase::pb::DeleteTableRequest request;
    request.mutable_table_name()->set_namespace_("default");
    request.mutable_table_name()->set_qualifier(table);
    auto answer = std::make_shared<std::atomic<int>>(0);
    log_->Admit(call, connection_, request, [answer](const Status& status) { answer->store(status.ok() ? 1 : 2); });
    return answer;
  }
  int Answer(const std::string& method) {
    const auto answer = Ask(method);
    EXPECT_TRUE(Eventually([&] { return answer->load() != 0; }));
    return answer->load();
  }
  void Deny(const std::string& user) {
    rpc::CallContext call;
    call.method = "Get";
    rpc::AuditedConnection connection = *connection_;
    connection.user = user;
    log_->Denied(call, std::make_shared<const rpc::AuditedConnection>(connection), "no right R on t");
  }
  VerifyReport Verify() {
    const auto reader = disk_.NewProcess("reader");
    const auto directory = *reader->OpenOrMake("/audit");
    Verifier verifier;
    text_.clear();
    const auto names = directory->List();
    for (const std::string& name : *names) {
      if (!IsAuditFileName(name)) continue;
      const std::string text = *directory->ReadAll(name);
      verifier.AddFile(name, text);
      text_ += text;
    }
    return verifier.report();
  }
  [[nodiscard]] std::size_t Count(const std::string& part) const {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text_.find(part, at)) != std::string::npos; ++at) ++count;
    return count;
  }

  SimDisk disk_;
  std::unique_ptr<SimDisk::Process> process_;
  std::shared_ptr<AuditLog> log_;
  std::shared_ptr<const rpc::AuditedConnection> connection_ = std::make_shared<const rpc::AuditedConnection>(
      rpc::AuditedConnection{"10.0.0.7:1234", "alice", "", "root", rpc::Authentication::kCertificate, "TLSv1.3", "1F"});
  std::string text_;
};

TEST_F(AuditLogTest, AChangeIsDurableWhenItIsAnswered) {
  EXPECT_EQ(Answer("CreateTable"), 1);
  disk_.PowerFailure();
  EXPECT_TRUE(Verify().problems.empty());
  EXPECT_EQ(Count(R"("event":"change","user":"alice","claimed":"root","by":"certificate","peer":"10.0.0.7:1234",)"
                  R"("tls":{"session":"TLSv1.3","serial":"1F"},"service":"MasterService","method":"CreateTable",)"
                  R"("target":"t","outcome":"asked")"),
            1u)
      << text_;
}

// A change whose answer names procedures has a further line, with their numbers.
TEST_F(AuditLogTest, AnAnswerNamesItsProcedures) {
  rpc::CallContext call;
  call.service = "MasterService";
  call.method = "CreateTable";
  hbase::pb::DeleteTableRequest request;
  request.mutable_table_name()->set_namespace_("default");
  request.mutable_table_name()->set_qualifier("t");
  hbase::pb::DeleteTableResponse one;
  log_->Answered(call, connection_, request, one);
  one.set_proc_id(4711);
  log_->Answered(call, connection_, request, one);
  hbase::pb::AssignsResponse many;
  for (std::uint64_t pid = 1; pid <= 45; ++pid) many.add_pid(pid);
  log_->Answered(call, connection_, request, many);
  EXPECT_EQ(Answer("EnableTable"), 1) << "its line follows those above";
  EXPECT_TRUE(Verify().problems.empty());
  EXPECT_EQ(Count(R"("user":"alice")"), 5u) << text_;
  EXPECT_EQ(Count(R"("method":"CreateTable","target":"t","outcome":"accepted","pid":4711})"), 1u) << text_;
  EXPECT_EQ(Count(R"("outcome":"accepted","pids":"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"})"), 1u);
  EXPECT_EQ(Count(R"("pids":"41 42 43 44 45"})"), 1u) << text_;
}

TEST_F(AuditLogTest, EventsOfTheProcessHaveAnOutcome) {
  log_->Note("fence", "rs-1 (session 4711)", "/bin/evict ended with code 0 after 12 ms: \n\033[2J", "confirmed");
  EXPECT_EQ(Answer("EnableTable"), 1);
  EXPECT_TRUE(Verify().problems.empty());
  EXPECT_EQ(Count(R"x("event":"fence","target":"rs-1 (session 4711)","outcome":"confirmed",)x"), 1u) << text_;
  EXPECT_EQ(Count(R"("why":"/bin/evict ended with code 0 after 12 ms: \\x0A\\x1B[2J"})"), 1u) << text_;
}

TEST_F(AuditLogTest, ManyThreadsShareSyncs) {
  constexpr int kThreads = 8;
  constexpr int kCalls = 200;
  std::atomic<int> allowed{0};
  std::vector<std::thread> threads;
  const std::uint64_t before = process_->operations();
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      std::vector<std::shared_ptr<std::atomic<int>>> answers;
      for (int call = 0; call < kCalls; ++call) answers.push_back(Ask("EnableTable"));
      for (const auto& answer : answers) allowed += Eventually([&] { return answer->load() == 1; }) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allowed.load(), kThreads * kCalls);
  EXPECT_TRUE(Verify().problems.empty());
  EXPECT_EQ(Count("EnableTable"), static_cast<std::size_t>(kThreads * kCalls));
  EXPECT_LT(process_->operations() - before, static_cast<std::uint64_t>(kThreads * kCalls));
}

TEST_F(AuditLogTest, AFloodOfRefusalsIsCounted) {
  constexpr int kFlood = 5'000;
  for (int i = 0; i < kFlood; ++i) Deny("mallory");
  const auto all_there = [&] {
    Verify();
    std::uint64_t counted = Count(R"("user":"mallory")");
    for (std::size_t at = 0; (at = text_.find(R"("target":"deny mallory Get")", at)) != std::string::npos; ++at)
      counted += std::stoull(text_.substr(text_.find("\"count\":", at) + 8));
    return counted == kFlood;
  };
  EXPECT_TRUE(Eventually(all_there)) << text_;
  EXPECT_LT(Count("\n"), 1'000u);
}

TEST_F(AuditLogTest, AFullDiskRefusesChangesExceptThoseThatMakeRoom) {
  EXPECT_EQ(Answer("CreateTable"), 1);
  disk_.SetCapacity(disk_.used_bytes());
  EXPECT_EQ(Answer("CreateTable"), 1) << "the reserve";
  EXPECT_TRUE(Eventually([&] { return log_->Problems().size() == 1; }));
  EXPECT_NE(log_->Problems().front().find("reserve"), std::string::npos);
  for (int i = 0; i < 200 && Answer("Grant") == 1; ++i) continue;
  EXPECT_EQ(Answer("Grant"), 2);
  EXPECT_EQ(Answer("DeleteTable"), 1);
  EXPECT_EQ(Answer("StopMaster"), 1);
  Deny("mallory");
  EXPECT_TRUE(Eventually([&] { return log_->lost() == 3; })) << log_->lost();
  EXPECT_NE(log_->Problems().front().find("3 lines are lost"), std::string::npos) << log_->Problems().front();
  disk_.SetCapacity(UINT64_MAX);
  EXPECT_TRUE(Eventually([&] { return Answer("Grant") == 1; }));
  EXPECT_TRUE(Eventually([&] { return log_->Problems().empty(); }));
  const VerifyReport report = Verify();
  EXPECT_TRUE(report.problems.empty());
  EXPECT_EQ(report.lost, 3u);
  EXPECT_EQ(Count("no line can be written from here"), 1u);
}

// The number of lost lines ends with the process, but not the fact.
TEST_F(AuditLogTest, AProcessThatEndsOnAFullDiskLeavesALineForTheNextOne) {
  disk_.SetCapacity(disk_.used_bytes());
  for (int i = 0; i < 200 && Answer("Grant") == 1; ++i) continue;
  EXPECT_EQ(Answer("Grant"), 2);
  Deny("mallory");
  EXPECT_TRUE(Eventually([&] { return log_->lost() == 1; })) << log_->lost();
  process_->Crash();
  disk_.SetCapacity(UINT64_MAX);
  for (int start = 0; start < 2; ++start) {
    Open();
    EXPECT_EQ(Answer("Grant"), 1);
    EXPECT_TRUE(Verify().problems.empty());
    EXPECT_EQ(Count("no line can be written from here"), 1u);
    EXPECT_EQ(Count("its lost lines are not counted"), 1u) << text_;
  }
  const std::size_t from = text_.find("no line can be written from here");
  const std::size_t until = text_.find("its lost lines are not counted");
  EXPECT_LT(from, until);
  EXPECT_EQ(text_.substr(from, until - from).find(R"("event":"start")"), std::string::npos) << "it is the next line";
}

TEST_F(AuditLogTest, AHangingDiskHoldsNoCallerAndHasABound) {
  std::atomic<bool> hangs{true};
  std::atomic<bool> reached{false};
  process_->SetHook([&hangs, &reached](const io::SimEvent& event) {
    reached = reached || event.op == io::SimOp::kSyncFile;
    while (event.op == io::SimOp::kSyncFile && hangs) std::this_thread::yield();
    return io::SimVerdict::Proceed();
  });
  const auto first = Ask("EnableTable");
  ASSERT_TRUE(Eventually([&] { return reached.load(); }));
  std::vector<std::shared_ptr<std::atomic<int>>> answers;
  for (std::size_t i = 0; i < kMostWaitingLines + 500; ++i) answers.push_back(Ask("EnableTable"));
  const auto refused = [&] {
    std::size_t count = 0;
    for (const auto& answer : answers) count += answer->load() == 2 ? 1 : 0;
    return count;
  };
  EXPECT_GE(refused(), 400u);
  EXPECT_EQ(Ask("StopServer")->load(), 1) << "a stop does not wait for a full queue";
  hangs = false;
  EXPECT_TRUE(Eventually([&] { return answers.front()->load() == 1 && first->load() == 1; }));
}

}  // namespace
}  // namespace ratchet::audit
