// Normalizer: makes the regions of tables that ask for it about equally large, by splits and merges
// (normalizer_plan.h).
//
// Off until an operator switches it on (switches.h). It works with the sizes that servers have last reported, and only
// on tables of which each region is open, at rest and reported; while a dead server is being recovered it does nothing.
// The number of splits and merges of one check is bounded, and the next check waits until they have ended. Each is an
// ordinary procedure. Thread-safe; never blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/table_name.h"
#include "master/procedures/core/master_options.h"
#include "master/requests/table_admin.h"
#include "master/telemetry/region_sizes.h"

namespace ratchet::master {

struct MasterEnv;

class Normalizer {
 public:
  Normalizer(MasterEnv& env, TableAdmin& tables, const RegionSizes& sizes, const NormalizerOptions& options)
      : env_(env), tables_(tables), sizes_(sizes), options_(options) {}

  // Checks now the tables for which `wanted` is true. Returns false if the normalizer is switched off, work of an
  // earlier check has not ended, or a server is being recovered.
  bool Run(const RequestContext& context, const std::function<bool(const TableName&)>& wanted);
  // Call every second: checks once in each period of the options.
  void Tick();
  // Splits and merges that it has asked for and that have not ended.
  [[nodiscard]] std::size_t under_way() const { return under_way_.load(); }

 private:
  void Begin(const std::vector<std::string>& regions, const RequestContext& context);

  MasterEnv& env_;
  TableAdmin& tables_;
  const RegionSizes& sizes_;
  const NormalizerOptions options_;
  std::atomic<std::size_t> under_way_{0};
  Mutex mutex_;
  TimePoint next_ GUARDED_BY(mutex_){};
};

}  // namespace ratchet::master
