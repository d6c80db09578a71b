// AdminService: requests of administrators, and that a request that waits for a disk blocks no handler.
#include "tests/unit/regionserver_server/service_fixture.h"

#include <atomic>
#include <set>
#include <thread>

#include "common/base/mutex.h"
#include "common/model/codec.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/admin_service.h"
#include "regionserver/rpc/admin_service.h"
#include "tests/support/member_methods.h"

namespace ratchet::regionserver {
namespace {

class AdminServiceTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    ASSERT_EQ(OpenRegion(region_).outcome, OrderOutcome::kOpened);
    const auto own = MakeMember({"the key"});
    rpc::ServerOptions listen;
    listen.member = own;
    admin_server_ = std::make_unique<rpc::RpcServer>(std::move(listen));
    AdminServiceParts parts;
    parts.self = [] { return ServerName{"host", 1, 100}; };
    parts.admit = [] { return Ok(); };
    parts.find = [this](const std::string& name) { return host_->regions.Find(name); };
    parts.all = [this] { return host_->regions.All(); };
    parts.switch_compactions = [this](bool on) { return host_->compactor.Switch(on); };
    parts.run_slowly = [this](std::function<void()> work) {
      const MutexLock lock(mutex_);
      waiting_.push_back(std::move(work));
      added_.NotifyAll();
    };
    parts.is_compacting = [this](const std::string& name, bool major) {
      return name == region_.encoded_name() && compacting_.contains(major);
    };
    parts.reload = [this] { return reloaded_; };
    parts.probe = [this](const ServerName& asked) {
      probed_ = asked;
      return finding_;
    };
    parts.pulse = [this](const ServerName& asked, Millis patience) {
      probed_ = asked;
      patience_ = patience;
      return pulse_;
    };
    admin_server_->Add(MakeAdminService(parts));
    ASSERT_TRUE(admin_server_->Start().ok());
    NameMember(*own, *admin_server_);
    channel_ = blocks_->Get(methods::kAdminService, {"127.0.0.1", admin_server_->port()});
  }
  void TearDown() override {
    RunWaiting();
    admin_server_->Stop();
    ServiceFixture::TearDown();
  }

  void AskToFlush(std::function<void(Result<rpc::Reply<pb::FlushRegionResponse>>)> done) {
    pb::FlushRegionRequest request;
    *request.mutable_region() = Specify(region_);
    channel_->Call(methods::kFlushRegion, request, {}, std::move(done));
  }
  void AwaitWaiting(std::size_t count) {
    MutexLock lock(mutex_);
    while (waiting_.size() < count) added_.Wait(mutex_);
  }
  void RunWaiting() {
    std::vector<std::function<void()>> works;
    {
      const MutexLock lock(mutex_);
      works.swap(waiting_);
    }
    for (const auto& work : works) work();
  }

  const RegionInfo region_ = TableRegion();
  Status reloaded_;
  ServerName probed_;
  rpc::ProbeFinding finding_ = rpc::ProbeFinding::kRefused;
  rpc::PulseEnd pulse_ = rpc::PulseEnd::kSilent;
  Millis patience_{0};
  std::set<bool> compacting_;  // major or not
  std::unique_ptr<rpc::RpcServer> admin_server_;
  std::shared_ptr<rpc::Channel> channel_;
  Mutex mutex_;
  CondVar added_;
  std::vector<std::function<void()>> waiting_ GUARDED_BY(mutex_);
};

// S121 (early findings are positive): the master's finding needs a second one.
TEST_F(AdminServiceTest, AnotherServerIsProbedForTheMaster) {
  const ServerName suspect{"10.0.0.7", 16020, 42};
  pb::ProbeServerRequest request;
  ToProto(suspect, *request.mutable_server());
  const auto verdict = [&] {
    const auto reply = channel_->CallSync(methods::kProbeServer, request);
    EXPECT_TRUE(reply.ok());
    return reply.ok() ? reply->message.verdict() : pb::ProbeServerResponse::NO_FINDING;
  };
  EXPECT_EQ(verdict(), pb::ProbeServerResponse::GONE);
  EXPECT_EQ(probed_, suspect);
  finding_ = rpc::ProbeFinding::kSame;
  EXPECT_EQ(verdict(), pb::ProbeServerResponse::ALIVE);
  finding_ = rpc::ProbeFinding::kUnclear;
  EXPECT_EQ(verdict(), pb::ProbeServerResponse::NO_FINDING);
}

// S124 (silence needs three witnesses).
TEST_F(AdminServiceTest, AnotherServerIsAskedForASignOfLifeForTheMaster) {
  const ServerName suspect{"10.0.0.7", 16020, 42};
  pb::ProbeServerRequest request;
  ToProto(suspect, *request.mutable_server());
  request.set_silence_ms(150);
  const auto verdict = [&] {
    const auto reply = channel_->CallSync(methods::kProbeServer, request);
    EXPECT_TRUE(reply.ok());
    return reply.ok() ? reply->message.verdict() : pb::ProbeServerResponse::GONE;
  };
  EXPECT_EQ(verdict(), pb::ProbeServerResponse::SILENT);
  EXPECT_EQ(probed_, suspect);
  EXPECT_EQ(patience_, Millis{150});
  pulse_ = rpc::PulseEnd::kAnswered;
  EXPECT_EQ(verdict(), pb::ProbeServerResponse::ALIVE);
  pulse_ = rpc::PulseEnd::kUnclear;
  request.set_silence_ms(UINT32_MAX);
  EXPECT_EQ(verdict(), pb::ProbeServerResponse::NO_FINDING);
  EXPECT_EQ(patience_, Millis{1'000}) << "no request holds a handler for longer";
}

TEST_F(AdminServiceTest, EveryMethodForMembersIsRefusedWithoutTheProof) {
  AdminServiceParts parts;
  const auto service = MakeAdminService(parts);
  EXPECT_EQ(ExpectMembersOnly({service}), 4u);
  for (const std::string_view name : {methods::kExecuteProcedures.name, methods::kProbeServer.name,
                                      methods::kOpenRegion.name, methods::kCloseRegion.name})
    EXPECT_TRUE(service->Find(name)->need.members_only()) << name;
}

TEST_F(AdminServiceTest, UpdateConfigurationReloadsTheSettingsOrSaysWhyNot) {
  const auto update = [this] {
    std::thread disk([this] {
      AwaitWaiting(1);
      RunWaiting();
    });
    const auto answer = channel_->CallSync(methods::kUpdateConfiguration, pb::UpdateConfigurationRequest(), {});
    disk.join();
    return answer.ok() ? Ok() : Status(answer.error());
  };
  EXPECT_TRUE(update().ok());
  reloaded_ = Error(Code::kInvalidArgument, "rs.conf:2: no setting 'wrokers'");
  const Status refused = update();
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(rpc::IsClass(refused.error(), rpc::exception::kDoNotRetryIo));
  EXPECT_NE(refused.error().message().find("no setting 'wrokers'"), std::string::npos);
}

TEST_F(AdminServiceTest, CompactionsAreSwitchedOffAndOnAndTheAnswerIsWhatTheyWere) {
  const auto switched = [this](bool on) {
    pb::CompactionSwitchRequest request;
    request.set_enabled(on);
    return channel_->CallSync(methods::kCompactionSwitch, request)->message.prev_state();
  };
  EXPECT_TRUE(switched(false));
  EXPECT_FALSE(switched(false));
  EXPECT_FALSE(switched(true));
  EXPECT_TRUE(switched(true));
}

TEST_F(AdminServiceTest, TheFilesOfARegionAreNamed) {
  pb::GetStoreFileRequest request;
  *request.mutable_region() = Specify(region_);
  request.add_family("f");
  const auto names = [&] { return channel_->CallSync(methods::kGetStoreFile, request)->message.store_file(); };
  EXPECT_EQ(names().size(), 0);
  ASSERT_TRUE(Put(region_, "r", "q", "v").ok());
  ASSERT_TRUE(host_->regions.Find(region_.encoded_name()).value()->Flush().ok());
  ASSERT_EQ(names().size(), 1);
  EXPECT_TRUE(names().Get(0).ends_with(".sst")) << names().Get(0);
  request.add_family("g");
  const auto refused = channel_->CallSync(methods::kGetStoreFile, request);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(rpc::ClassOf(refused.error()), rpc::exception::kNoSuchColumnFamily);
}

// The store flushes and compacts all families together; a family that does not exist is still an error.
TEST_F(AdminServiceTest, AFlushOrCompactionOfAnUnknownFamilyIsRefused) {
  pb::FlushRegionRequest flush;
  *flush.mutable_region() = Specify(region_);
  pb::CompactRegionRequest compact;
  *compact.mutable_region() = Specify(region_);
  const auto flushed = [&] {
    std::thread disk([this] {
      AwaitWaiting(1);
      RunWaiting();
    });
    const auto answer = channel_->CallSync(methods::kFlushRegion, flush, {});
    disk.join();
    return answer.ok() ? Ok() : Status(answer.error());
  };
  ASSERT_TRUE(Put(region_, "r", "q", "v").ok());
  for (const std::string& unknown : {std::string("nofam"), std::string()}) {
    flush.set_family(unknown);
    const Status refused = flushed();
    ASSERT_FALSE(refused.ok());
    EXPECT_TRUE(rpc::IsClass(refused.error(), rpc::exception::kNoSuchColumnFamily));
    compact.set_family(unknown);
    const auto not_compacted = channel_->CallSync(methods::kCompactRegion, compact);
    ASSERT_FALSE(not_compacted.ok());
    EXPECT_TRUE(rpc::IsClass(not_compacted.error(), rpc::exception::kNoSuchColumnFamily));
  }
  EXPECT_EQ(host_->regions.Find(region_.encoded_name()).value()->GetStatus().store_files, 0U) << "nothing was flushed";
  flush.set_family("f");
  EXPECT_TRUE(flushed().ok());
  EXPECT_EQ(host_->regions.Find(region_.encoded_name()).value()->GetStatus().store_files, 1U);
}

// Input formats skip regions of size 0 as empty.
TEST_F(AdminServiceTest, OnlyWhatIsEmptyHasTheSizeZero) {
  constexpr std::uint64_t kMegabyte = 1 << 20;
  EXPECT_EQ(Megabytes(0), 0U);
  EXPECT_EQ(Megabytes(1), 1U);
  EXPECT_EQ(Megabytes(kMegabyte - 1), 1U);
  EXPECT_EQ(Megabytes(2 * kMegabyte - 1), 1U);
  EXPECT_EQ(Megabytes(2 * kMegabyte), 2U);
  EXPECT_EQ(Megabytes(UINT64_MAX), static_cast<std::uint32_t>(INT32_MAX));
  const auto region = host_->regions.Find(region_.encoded_name()).value();
  const auto load = [&region] {
    pb::RegionLoad filled;
    FillRegionLoad(*region, filled);
    return filled;
  };
  EXPECT_EQ(load().storefile_size_mb(), 0U);
  EXPECT_EQ(load().region_size_mb(), 0U);
  ASSERT_TRUE(Put(region_, "r", "q", "v").ok());
  EXPECT_EQ(load().mem_store_size_mb(), 1U);
  ASSERT_TRUE(region->Flush().ok());
  EXPECT_EQ(load().mem_store_size_mb(), 0U);
  EXPECT_EQ(load().storefile_size_mb(), 1U);
  EXPECT_EQ(load().region_size_mb(), 1U);
  // Compressed well: the file is small, its cells are not.
  ASSERT_TRUE(Put(region_, "r", "q", std::string(3 * kMegabyte, 'v')).ok());
  ASSERT_TRUE(region->Flush().ok());
  EXPECT_EQ(load().storefile_size_mb(), 1U);
  EXPECT_GE(load().store_uncompressed_size_mb(), 3U);
}

TEST_F(AdminServiceTest, ARegionSaysThatItCanBeSplitAndMerged) {
  pb::GetRegionInfoRequest request;
  *request.mutable_region() = Specify(region_);
  const auto info = channel_->CallSync(methods::kGetRegionInfo, request);
  ASSERT_TRUE(info.ok()) << info.error().ToString();
  EXPECT_TRUE(info->message.splittable());
  EXPECT_TRUE(info->message.mergeable());
}

TEST_F(AdminServiceTest, ARegionSaysHowItIsBeingCompacted) {
  using Answer = pb::GetRegionInfoResponse;
  pb::GetRegionInfoRequest request;
  *request.mutable_region() = Specify(region_);
  EXPECT_FALSE(channel_->CallSync(methods::kGetRegionInfo, request)->message.has_compaction_state());
  request.set_compaction_state(true);
  const auto shown = [&](std::set<bool> compacting) {
    compacting_ = std::move(compacting);
    return channel_->CallSync(methods::kGetRegionInfo, request)->message.compaction_state();
  };
  EXPECT_EQ(shown({}), Answer::NONE);
  EXPECT_EQ(shown({false}), Answer::MINOR);
  EXPECT_EQ(shown({true}), Answer::MAJOR);
  EXPECT_EQ(shown({false, true}), Answer::MAJOR_AND_MINOR);
}

// Five such calls on a slow disk once stopped hbase:meta and the master's orders: they share the handlers of this
// class.
TEST_F(AdminServiceTest, FlushesThatWaitForADiskLeaveTheHandlersFree) {
  std::atomic<int> answered{0};
  for (int i = 0; i < kMostSlowCalls; ++i) {
    AskToFlush([&answered](const auto& reply) { answered += reply.ok() ? 1 : 0; });
  }
  AwaitWaiting(kMostSlowCalls);
  const auto info = channel_->CallSync(methods::kGetServerInfo, pb::GetServerInfoRequest());
  EXPECT_TRUE(info.ok()) << info.error().ToString();
  EXPECT_EQ(answered, 0);

  pb::FlushRegionRequest request;
  *request.mutable_region() = Specify(region_);
  const auto refused = channel_->CallSync(methods::kFlushRegion, request);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().remote_class(), rpc::exception::kCallQueueTooBig);

  RunWaiting();
  std::thread runs([this] {
    AwaitWaiting(1);
    RunWaiting();
  });
  const auto later = channel_->CallSync(methods::kFlushRegion, request);
  runs.join();
  EXPECT_TRUE(later.ok()) << later.error().ToString();
  EXPECT_EQ(answered, kMostSlowCalls) << "answers of one connection come in the order in which they were given";
}

}  // namespace
}  // namespace ratchet::regionserver
