// A master's executor behind the services for operators.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "common/model/proto/operator.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/hbck_service.h"
#include "common/rpc/methods/lock_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/rpc/server.h"
#include "master/rpc/master_services.h"
#include "procedure/api/executor.h"
#include "procedure/api/lock_procedure.h"
#include "procedure/api/state_machine_procedure.h"
#include "tests/support/manual_time.h"
#include "tests/support/master_world/service_env.h"
#include "tests/support/memory_store.h"

namespace ratchet::master {

struct NoData {
  [[nodiscard]] std::string SerializeAsString() const { return {}; }
  bool ParseFromArray(const void* /*bytes*/, int /*size*/) { return true; }
};

// Waits without end, then ends.
class Waiter final : public procedure::StateMachineProcedure<Waiter, NoData> {
 public:
  static constexpr std::string_view kTypeName = "Waiter";
  static constexpr auto Steps() {
    return std::array{On<&Waiter::Wait>(1, "WAIT", kNothingToUndo), On<&Waiter::End>(2, "END", kNothingToUndo)};
  }
  using StateMachineProcedure::StateMachineProcedure;

 private:
  procedure::StepOutcome Wait(procedure::StepContext& /*ctx*/) { return procedure::Await{}; }
  procedure::StepOutcome End(procedure::StepContext& /*ctx*/) { return procedure::Done{"ended"}; }
};

// A master's executor behind its RPC services; steps run only in Run().
class OperatorServiceTest : public ::testing::Test {
 protected:
  OperatorServiceTest() : store_(std::make_shared<procedure::MemoryMedium>()) {
    registry_.Register<Waiter>();
    registry_.Register<procedure::LockProcedure>();
    executor_ = std::make_unique<procedure::Executor>(
        procedure::Executor::Deps{store_, registry_, workers_, time_, time_, {}}, procedure::Executor::Options{});
    RATCHET_CHECK(executor_->Recover().ok(), "an empty store");
    executor_->Start();
    gate_.Elected();
    gate_.Recovered({nullptr, executor_.get(), &store_, nullptr, executor_->epoch()});
    gate_.WorkersStarted();
    gate_.Ready();
    env_.timers = &time_;
    server_.Add(MakeRatchetService(env_));
    server_.Add(MakeLockService(env_));
    server_.Add(MakeHbckService(env_));
    RATCHET_CHECK(server_.Start().ok(), "a free port");
  }
  ~OperatorServiceTest() override {
    pool_.Stop();
    server_.Stop();
    executor_->Stop();
  }

  template <class Request, class Response>
  Result<Response> Call(const rpc::Method<Request, Response>& method, const std::type_identity_t<Request>& request) {
    auto answer = pool_.CallSync(method, {"127.0.0.1", server_.port()}, request);
    if (!answer.ok()) return answer.error();
    return answer->message;
  }
  ProcId Submit() { return executor_->Submit(std::make_unique<Waiter>()).value(); }
  void Run() { workers_.RunUntilIdle(); }
  // A verb is answered when it is durable; the thread that answers queues the procedure right after.
  [[nodiscard]] bool RunUntil(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      Run();
      if (condition()) return true;
      std::this_thread::yield();
    }
    return false;
  }
  [[nodiscard]] bool Ends(ProcId pid) {
    return RunUntil([this, pid] { return executor_->GetResult(pid).finished(); });
  }
  std::string Verb(ProcId pid, ::ratchet::pb::ProcedureVerbRequest::Verb verb, const std::string& step = {}) {
    ::ratchet::pb::ProcedureVerbRequest request;
    request.set_verb(verb);
    request.set_pid(pid.value());
    request.set_step(step);
    request.mutable_note()->set_who("op");
    request.mutable_note()->set_why("test");
    const auto answer = Call(methods::kProcedureVerb, request);
    return answer.ok() ? "ok" : std::string(rpc::ClassOf(answer.error())) + ": " + answer.error().message();
  }

  ManualTime time_;
  procedure::MemoryStore store_;
  procedure::ProcedureRegistry registry_;
  procedure::ManualWorkers workers_;
  std::unique_ptr<procedure::Executor> executor_;
  MasterGate gate_{{"h", 1, 1}, "cluster-x", "test", time_};
  LoadBook loads_;
  ServiceEnv env_ = QuietServiceEnv(gate_, loads_);
  rpc::RpcServer server_{rpc::ServerOptions{}};
  rpc::ChannelPool pool_{rpc::ChannelPoolOptions{}};
};

}  // namespace ratchet::master
