// Activation: the start of a new active master, step by step. Each step has a name for the log and the status surface.
// The shell calls the steps one after the other, each to its end; simulations do the same.
//
//   1 claim store          Executor::Recover: next epoch, previous owner fenced, procedures loaded, locks restored
//   2 attach procedures    unfinished region and crash procedures own their regions and servers again
//   3 schedule meta        InitMeta, if hbase:meta was never created
//   4 find dead servers    log directories, server records, THEN the live ones; a ServerCrash for each that is dead
//                          (a server that has logs and no record is not looked for: it never had a region)
//   5 start workers
//   6 load meta            waits until meta is online, reads it, wakes what waits for it; expires unknown servers
//
// Not thread-safe: one thread runs it. Timers and MetaTable may still call back after it is gone only if they do so on
// the thread that destroyed it; otherwise stop them first.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"
#include "master/env/meta_table.h"

namespace ratchet::master {

struct MasterEnv;
class ServerManager;

enum class ActivationStep : std::uint8_t {
  kNotStarted,
  kClaimStore,
  kAttachProcedures,
  kScheduleMeta,
  kFindDeadServers,
  kStartWorkers,
  kLoadMeta,
  kReady,
};
[[nodiscard]] std::string_view ActivationStepName(ActivationStep step);

class Activation {
 public:
  // `on_step` (may be empty) is called at the beginning of each step and with kReady at the end.
  Activation(MasterEnv& env, ServerManager& manager, Timers& timers, std::function<void(ActivationStep)> on_step)
      : env_(env), manager_(manager), timers_(timers), on_step_(std::move(on_step)) {}

  // Wraps each step: it must call `run`, and may act before and after.
  using AroundStep = std::function<Status(ActivationStep step, const std::function<Status()>& run)>;
  // Steps 1 to 5; blocks (store, files, ZooKeeper). On an error this process must not continue as master.
  Status RunUntilWorkersStarted(const AroundStep& around = {});
  // Step 6: returns at once; calls `done` when meta is loaded and requests may be admitted. Retries until it succeeds:
  // meta comes online eventually, because no crash was missed. kFenced ends the retries.
  void LoadMeta(std::function<void(Status)> done);

  // The separate steps, for tests that crash between them.
  Status ClaimStore();
  Status AttachProcedures();
  Status ScheduleMeta();
  Status FindDeadServers();
  Status StartWorkers();
  [[nodiscard]] ActivationStep step() const { return step_; }

 private:
  void Enter(ActivationStep step);
  [[nodiscard]] Status CheckNoTables();
  [[nodiscard]] Status CheckMetaDirectory();
  void ScanMeta(std::uint32_t attempt, std::function<void(Status)> done);
  void AfterLoad(Status taken, std::uint32_t attempt, std::function<void(Status)> done);
  Status LoadMeta(const MetaContents& contents);
  void LoadTables(const MetaContents& contents);
  std::vector<ServerName> LoadRegions(const MetaContents& contents);
  void AssignLeftBehind();

  MasterEnv& env_;
  ServerManager& manager_;
  Timers& timers_;
  std::function<void(ActivationStep)> on_step_;
  ActivationStep step_ = ActivationStep::kNotStarted;
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // callbacks hold it weakly
};

}  // namespace ratchet::master
