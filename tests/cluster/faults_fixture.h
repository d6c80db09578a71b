// A cluster for injecting fault after fault, with a writer that runs meanwhile. At the end no acknowledged write may be
// missing.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include <gtest/gtest.h>

#include "chaos/demo/checks.h"
#include "chaos/demo/writer.h"
#include "chaos/faults/fault.h"
#include "chaos/faults/target.h"
#include "chaos/verdict/cluster_checks.h"
#include "common/base/log.h"
#include "common/base/prng.h"
#include "common/client/admin.h"
#include "tests/cluster/standstill_watch.h"

namespace ratchet::chaos {

class FaultsTest : public ::testing::Test {
 protected:
  static constexpr Millis kPatience{60'000};
  static constexpr Millis kLongest{200'000};  // limit of one test; about forty seconds on a busy machine are usual

  void SetUp() override {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    ConfigureLog({LogLevel::kError, ""});
    seed_ = RandomSeed();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
    dir_ = std::filesystem::temp_directory_path() / fmt::format("ratchet-faults-{:x}", seed_ & 0xffffffU);
    ClusterSpec spec;
    spec.dir = dir_;
    spec.bin = std::filesystem::canonical("/proc/self/exe").parent_path().parent_path() / "bin";
    spec.session_timeout = Millis(1'000);
    LocalTargetOptions options;
    options.seed = seed_;
    Configure(spec, options);
    auto made = MakeLocalTarget(spec, options);
    ASSERT_TRUE(made.ok()) << made.error().ToString();
    target_ = std::move(*made);
    Write();
  }

  virtual void Configure(ClusterSpec& /*spec*/, LocalTargetOptions& options) { options.shims = false; }

  void TearDown() override {
    watch_.At("the end");
    if (writer_ != nullptr) writer_->Stop();
    // Skips the check after a fatal failure, because reads of an unserved region would only wait again.
    if (writer_ != nullptr && !HasFatalFailure()) {
      const auto account = writer_->CollectAccount();
      EXPECT_FALSE(account.acknowledged.empty());
      for (const auto& finding : CheckRows(*connection_, kTable, {}, account)) {
        EXPECT_TRUE(finding.good) << finding.text;
        std::printf("%s\n", finding.text.c_str());
      }
      const Finding owners = CheckOneOwner(*connection_);
      EXPECT_TRUE(owners.good) << owners.text;
    }
    if (connection_ != nullptr) connection_->Close();
    if (HasFailure() && target_ != nullptr) {
      const Status collected = target_->Collect(dir_.string() + "-failed");
      std::fprintf(stderr, "logs and stores are kept in %s-failed, %s\n", dir_.c_str(),
                   collected.ok() ? "whole" : collected.error().message().c_str());
    }
    target_.reset();
    std::filesystem::remove_all(dir_);
  }

  void Write() {
    client::ConnectionOptions options;
    options.zookeeper = target_->zookeeper();
    options.rpc_timeout = Millis(2'000);
    options.operation_timeout = Millis(30'000);
    auto connection = client::Connection::Open(options);
    ASSERT_TRUE(connection.ok());
    connection_ = std::move(*connection);
    client::Admin admin(*connection_);
    TableDescriptor table;
    table.name = kTable;
    table.families.push_back(DefaultFamily("u"));
    const Status created = admin.WaitOk(admin.CreateTable(table, {"04", "08", "0c", "10", "14"}));
    ASSERT_TRUE(created.ok()) << created.error().ToString();
    writer_ = std::make_unique<Writer>(*connection_, kTable, 2, seed_);
  }

  // Injects the fault, waits as long as a driver would, then heals it.
  void BreakAndHeal(std::string_view kind) {
    SCOPED_TRACE(kind);
    watch_.At(std::string(kind));
    Prng prng(seed_ + injected_++);
    const auto begun = SystemClock().Now();
    auto fault = MakeFault(kind);
    ASSERT_TRUE(fault.ok()) << fault.error().ToString();
    const auto unavailable = (*fault)->Unavailable(*target_);
    ASSERT_FALSE(unavailable) << *unavailable;
    const auto record = (*fault)->Inject(*target_, prng);
    ASSERT_TRUE(record.ok()) << record.error().ToString();
    EXPECT_EQ(record->kind, kind);
    EXPECT_FALSE(record->victims.empty());
    EXPECT_FALSE(record->evidence.empty());
    const auto until = SystemClock().Now() + (*fault)->Duration(prng).value_or(Millis(0));
    for (int round = 0; SystemClock().Now() < until; ++round) PollPause(round);
    const Status healed = (*fault)->Heal(*target_);
    EXPECT_TRUE(healed.ok()) << healed.error().ToString();
    const Status serving = target_->WaitServing(kPatience);
    ASSERT_TRUE(serving.ok()) << serving.error().ToString();
    const std::size_t enough = writer_->acknowledged() + 20;
    const Status writes = WaitUntil("writes", kPatience, [&] { return writer_->acknowledged() >= enough; });
    ASSERT_TRUE(writes.ok()) << writes.error().ToString();
    deaths_ = target_->CollectDeaths();
    for (const auto& death : deaths_) {
      EXPECT_TRUE(death.expected) << death.name << " ended with exit code " << death.exit_code;
    }
    const auto took = std::chrono::duration_cast<Millis>(SystemClock().Now() - begun);
    std::printf("%-28s %5lld ms  %s\n", std::string(kind).c_str(), static_cast<long long>(took.count()),
                record->evidence.c_str());
  }

  void BreakAndHealEach(const std::vector<std::string_view>& kinds) {
    for (const auto kind : kinds) {
      BreakAndHeal(kind);
      if (HasFatalFailure()) return;
    }
  }

  StandstillWatch watch_{kLongest};
  const TableName kTable{"default", "t"};
  std::uint64_t seed_ = 0;
  std::uint64_t injected_ = 0;
  std::filesystem::path dir_;
  std::unique_ptr<Target> target_;
  std::unique_ptr<client::Connection> connection_;
  std::unique_ptr<Writer> writer_;
  std::vector<Death> deaths_;  // since the last fault but one
};

}  // namespace ratchet::chaos
