#include "master/process/logic_options.h"

#include "common/base/exit_codes.h"
#include "common/base/prng.h"
#include "common/base/went_back.h"

namespace ratchet::master {

MasterOptions LogicOptions(const MasterConfig& config) {
  MasterOptions options;
  options.seed = RandomSeed();
  options.order_resend = config.order_resend;
  options.retry.cap = config.retry_max;
  options.table_sanity_checks = config.table_sanity_checks;
  options.reconciler.grace = config.region_state_grace;
  options.reconciler.janitor_interval = config.catalog_janitor_interval;
  options.auto_split = config.auto_split;
  options.retain_wait = config.retain_wait;
  options.quota_table_at_start = config.quota_table_at_start;
  options.balancer = config.balancer;
  if (config.balancer_kind == "stochastic") options.balancer.kind = BalancerKind::kStochastic;
  options.normalizer = config.normalizer;
  options.replication_wait = config.replication_wait;
  options.snapshot_export_dir = config.snapshot_export_dir;
  return options;
}

int ExitCodeFor(const Error& error) {
  if (IsWentBack(error)) return exit_code::kWentBack;
  switch (error.code()) {
    case Code::kFenced: return exit_code::kFenced;
    case Code::kCorruption: return exit_code::kStoreDamaged;
    case Code::kIo:
    case Code::kNoSpace: return exit_code::kRootUnusable;
    case Code::kUnavailable: return exit_code::kZooKeeperUnreachable;
    case Code::kTimeout: return exit_code::kStorageHangs;  // S102 (evict before fencing): restarts and tries again
    default: return exit_code::kInternal;
  }
}

}  // namespace ratchet::master
