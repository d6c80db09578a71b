// The dispatcher against a real RPC server that acts as a region server.
#include "master/dispatch/remote_dispatcher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "common/base/mutant.h"
#include "common/model/proto/admin.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/server.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;
constexpr Millis kPatience{60'000};

// Accepts orders; may refuse, hold or lose them.
class FakeRegionServer {
 public:
  FakeRegionServer() {
    auto service = std::make_shared<rpc::Service>(methods::kAdminService);
    auto for_every_caller = methods::kExecuteProcedures;  // the test makes no proof of membership
    for_every_caller.need = rights::Need::Any();
    service->On(for_every_caller,
                [this](const rpc::CallContext& /*call*/, const pb::ExecuteProceduresRequest& request,
                       std::string_view /*cells*/, const rpc::Responder<pb::ExecuteProceduresResponse>& responder) {
                  MutexLock lock(mutex_);
                  ++requests_;
                  for (const auto& close : request.close_region())
                    pids_.insert(static_cast<std::uint64_t>(close.close_proc_id()));
                  last_batch_ = request.close_region_size();
                  changed_.NotifyAll();
                  if (refuse_.has_value()) {
                    responder.Fail(*refuse_);
                  } else if (hold_) {
                    held_.push_back(responder);
                  } else {
                    responder.Reply({});
                  }
                });
    server_.Add(std::move(service));
    EXPECT_TRUE(server_.Start().ok());
  }
  [[nodiscard]] ServerName name() const { return {"127.0.0.1", server_.port(), 77}; }
  void Refuse(std::optional<Error> error) {
    MutexLock lock(mutex_);
    refuse_ = std::move(error);
  }
  void Hold() {
    MutexLock lock(mutex_);
    hold_ = true;
  }
  void Release() {
    MutexLock lock(mutex_);
    hold_ = false;
    for (const auto& responder : held_) responder.Reply({});
    held_.clear();
  }
  bool WaitRequests(int count) {
    MutexLock lock(mutex_);
    for (int i = 0; i < 200 && requests_ < count; ++i) changed_.WaitFor(mutex_, kPatience / 200);
    return requests_ >= count;
  }
  int requests() {
    MutexLock lock(mutex_);
    return requests_;
  }
  int last_batch() {
    MutexLock lock(mutex_);
    return last_batch_;
  }
  std::set<std::uint64_t> pids() {
    MutexLock lock(mutex_);
    return pids_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int requests_ GUARDED_BY(mutex_) = 0;
  int last_batch_ GUARDED_BY(mutex_) = 0;
  bool hold_ GUARDED_BY(mutex_) = false;
  std::optional<Error> refuse_ GUARDED_BY(mutex_);
  std::set<std::uint64_t> pids_ GUARDED_BY(mutex_);
  std::vector<rpc::Responder<pb::ExecuteProceduresResponse>> held_ GUARDED_BY(mutex_);
  rpc::RpcServer server_{rpc::ServerOptions{}};
};

class RemoteDispatcherTest : public ::testing::Test {
 protected:
  RemoteDispatcherTest() : timers_(MakeThreadTimers()), pool_(rpc::ChannelPoolOptions{}) {
    options_.expire_after = Millis{300};
    options_.startup_wait = Millis{300};
    options_.backoff.base = Millis{5};
    options_.startup_poll = Millis{5};
  }
  ~RemoteDispatcherTest() override {
    dispatcher_->Stop();
    pool_.Stop();
  }
  void Start() {
    dispatcher_ = std::make_unique<RemoteDispatcher>(pool_, clock_, *timers_, options_, 1);
    dispatcher_->Begin({Epoch(3), 1}, {[this] { return Check(); }, [this](const ServerName&) { return online_.load(); },
                                       [this](const ServerName&, const std::string&) { Note(&expired_); },
                                       [] { return ProcId(1); }, [this](const Error&) { Note(&deposed_); }});
  }
  Status Check() {
    MutexLock lock(mutex_);
    ++checks_;
    return owner_;
  }
  void Note(int* what) {
    MutexLock lock(mutex_);
    ++*what;
    changed_.NotifyAll();
  }
  bool WaitFor(const int* what) {
    MutexLock lock(mutex_);
    for (int i = 0; i < 200 && *what == 0; ++i) changed_.WaitFor(mutex_, kPatience / 200);
    return *what > 0;
  }
  void Send(std::uint64_t pid) {
    CloseOrder order;
    order.id = {ProcId(pid), 1};
    order.region.table = TableName("default", "t");
    dispatcher_->Dispatch(server_.name(), order);
  }
  void Depose() {
    MutexLock lock(mutex_);
    owner_ = Error(Code::kFenced, "deposed");
  }
  int checks() {
    MutexLock lock(mutex_);
    return checks_;
  }
  // An order is refused again and again, and its master is deposed meanwhile. Returns true if the master continues to
  // send it. One request may have been in progress.
  bool RepeatsAnOrderAfterItWasDeposed() {
    options_.expire_after = Millis{60'000};
    Start();
    server_.Refuse(rpc::RemoteError(rpc::exception::kCallQueueTooBig, "busy"));
    Send(1);
    EXPECT_TRUE(server_.WaitRequests(3));
    Depose();
    const int sent = server_.requests();
    constexpr Millis kLook{5};
    MutexLock lock(mutex_);
    for (Millis waited{0}; waited < kPatience && deposed_ == 0; waited += kLook) {
      changed_.WaitFor(mutex_, kLook);
      if (server_.requests() > sent + 1) return true;
    }
    EXPECT_GT(deposed_, 0);
    return false;
  }

  DispatchOptions options_;
  SystemClock clock_;
  std::unique_ptr<Timers> timers_;
  FakeRegionServer server_;
  rpc::ChannelPool pool_;
  std::atomic<bool> online_{true};
  Mutex mutex_;
  CondVar changed_;
  int checks_ = 0;
  int expired_ = 0;
  int deposed_ = 0;
  Status owner_;
  std::unique_ptr<RemoteDispatcher> dispatcher_;
};

TEST_F(RemoteDispatcherTest, OrdersGatherBehindTheRequestInFlight) {
  Start();
  server_.Hold();
  Send(1);
  ASSERT_TRUE(server_.WaitRequests(1));
  for (std::uint64_t pid = 2; pid <= 20; ++pid) Send(pid);
  server_.Release();
  ASSERT_TRUE(server_.WaitRequests(2));
  EXPECT_EQ(server_.last_batch(), 19);
  EXPECT_EQ(server_.pids().size(), 20u);
}

TEST_F(RemoteDispatcherTest, ChecksItsOwnershipBeforeEachSendRepeatedOnesIncluded) {
  options_.expire_after = Millis{60'000};
  Start();
  server_.Refuse(rpc::RemoteError(rpc::exception::kCallQueueTooBig, "busy"));
  Send(1);
  ASSERT_TRUE(server_.WaitRequests(3));
  EXPECT_GE(checks(), 3);
  Depose();
  server_.Refuse(std::nullopt);
  ASSERT_TRUE(WaitFor(&deposed_));
  const int sent = server_.requests();
  Send(2);
  Send(3);
  EXPECT_EQ(server_.requests(), sent) << "a deposed master sent an order";
  EXPECT_FALSE(server_.pids().contains(2));
}

TEST_F(RemoteDispatcherTest, ADeposedMasterDoesNotRepeatItsOrders) { EXPECT_FALSE(RepeatsAnOrderAfterItWasDeposed()); }

#if defined(RATCHET_MUTANTS)
TEST_F(RemoteDispatcherTest, CheckingOnlyTheFirstSendingIsCaught) {
  const ScopedMutant mutant("master.check_once");
  EXPECT_TRUE(RepeatsAnOrderAfterItWasDeposed());
}
#endif

TEST_F(RemoteDispatcherTest, AServerThatAcceptsNothingIsExpiredOnce) {
  Start();
  server_.Refuse(rpc::RemoteError(rpc::exception::kCallQueueTooBig, "busy"));
  Send(1);
  ASSERT_TRUE(WaitFor(&expired_));
  EXPECT_EQ(expired_, 1);
  EXPECT_GE(server_.requests(), 2);
  EXPECT_TRUE(dispatcher_->View().at(0).expired);
  dispatcher_->Forget(server_.name());
  EXPECT_TRUE(dispatcher_->View().empty());
}

TEST_F(RemoteDispatcherTest, AYoungerIncarnationAtTheAddressExpiresTheAddresseeAtOnce) {
  options_.expire_after = Millis{600'000};
  Start();
  server_.Refuse(rpc::RemoteError(rpc::exception::kOtherRun, "another run"));
  Send(1);
  ASSERT_TRUE(WaitFor(&expired_));
}

TEST_F(RemoteDispatcherTest, ForServersThatAreNotOnlineNothingIsSent) {
  Start();
  online_.store(false);
  Send(1);
  EXPECT_EQ(server_.requests(), 0);
  EXPECT_TRUE(dispatcher_->View().empty());
}

}  // namespace
}  // namespace ratchet::master
