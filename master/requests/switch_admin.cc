#include "master/requests/switch_admin.h"

#include <memory>
#include <sstream>
#include <utility>

#include "common/base/mutex.h"
#include "common/base/strong_id.h"
#include "master/procedures/admin/set_switches.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/reshape/merge_table_regions.h"
#include "master/procedures/reshape/split_table_region.h"
#include "master/requests/submit_asked.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

using Previous = std::vector<bool>;

Previous PreviousIn(const std::string& result) {
  Previous previous;
  std::istringstream words(result);
  for (std::string word; words >> word;) previous.push_back(word == "on");
  return previous;
}

std::vector<ProcId> Begun(const MasterEnv& env, const SwitchAdmin::Request& request) {
  std::vector<ProcId> begun;
  if (request.on || !request.and_wait) return begun;
  for (const Switch each : request.switches) {
    const std::string_view type = each == Switch::kSplit ? SplitTableRegion::kTypeName : MergeTableRegions::kTypeName;
    if (each != Switch::kSplit && each != Switch::kMerge) continue;
    for (const ProcId pid : env.executor->FindUnfinished(type)) begun.push_back(pid);
  }
  return begun;
}

// Calls `done` when the given number of procedures have ended.
class Countdown {
 public:
  Countdown(std::size_t count, std::function<void()> done) : left_(count), done_(std::move(done)) {}
  void Take() {
    {
      const MutexLock lock(mutex_);
      if (--left_ > 0) return;
    }
    done_();
  }

 private:
  Mutex mutex_;
  std::size_t left_ GUARDED_BY(mutex_);
  const std::function<void()> done_;
};

}  // namespace

void SwitchAdmin::Set(Request request, std::function<void(Result<std::vector<bool>>)> done) {
  auto procedure = SetSwitches::Make(request.switches, request.on);
  RequestContext context{request.context.user, {}, request.context.origin};
  SubmitAsked(
      env_, std::move(procedure), std::move(context), {},
      [this, request = std::move(request), done = std::move(done)](const Result<ProcId>& pid) {
        if (!pid.ok()) return done(pid.error());
        env_.executor->OnFinished(*pid, [this, request, done](const procedure::ProcedureResult& ended) {
          if (ended.error) return done(*ended.error);
          const Previous previous = PreviousIn(ended.result);
          const std::vector<ProcId> begun = Begun(env_, request);
          if (begun.empty()) return done(previous);
          const auto countdown = std::make_shared<Countdown>(begun.size(), [done, previous] { done(previous); });
          for (const ProcId each : begun) {
            env_.executor->OnFinished(each,
                                      [countdown](const procedure::ProcedureResult& /*ended*/) { countdown->Take(); });
          }
        });
      },
      /*without_meta=*/true);
}

}  // namespace ratchet::master
