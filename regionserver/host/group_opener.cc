#include "regionserver/host/group_opener.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "regionserver/host/side_by_side.h"

namespace ratchet::regionserver {
namespace {

template <class Entries>
auto TakeFirst(Entries& entries) {
  auto first = std::move(entries.front());
  entries.pop_front();
  return first;
}

}  // namespace

GroupLimits LimitsFor(std::uint64_t descriptors) {
  GroupLimits limits;
  limits.most_active = std::clamp<std::size_t>(descriptors / 8, 1, limits.most_active);
  return limits;
}

void GroupOpener::Add(std::shared_ptr<OpenJob> job) {
  {
    MutexLock lock(mutex_);
    Entry entry{std::move(job), nullptr};
    if (active_ >= limits_.most_active) {
      waiting_.push_back(std::move(entry));
      return;
    }
    ++active_;
    claims_.ready.push_back(std::move(entry));
  }
  Post(1);
}

void GroupOpener::Post(std::size_t count) {
  for (; count > 0; --count) lanes_.Run(Lane::kRegions, [this] { Work(); });
}

// Runs the step of one opening. If this thread then makes a sync, it also runs the next step of one opening of that
// group, so that an opening alone stays on its thread.
void GroupOpener::Work() {
  for (std::size_t own = 1; own > 0; --own) {
    RunOne();
    while (true) {
      std::optional<std::size_t> ready = SyncDue(OpenJob::Step::kTakeOver);
      if (!ready) ready = SyncDue(OpenJob::Step::kClaim);
      if (!ready) break;
      if (*ready == 0) continue;
      ++own;
      Post(*ready - 1);
    }
  }
}

// The later step comes first: clients wait for regions, and each opening in progress has resources.
void GroupOpener::RunOne() {
  std::optional<Entry> entry;
  std::optional<OpenJob::Step> step;
  {
    MutexLock lock(mutex_);
    if (!finishing_.empty()) {
      entry = TakeFirst(finishing_);
    } else if (!records_.ready.empty()) {
      step = OpenJob::Step::kTakeOver;
      entry = TakeFirst(records_.ready);
    } else if (!claims_.ready.empty()) {
      step = OpenJob::Step::kClaim;
      entry = TakeFirst(claims_.ready);
    }
  }
  if (!entry) return;
  if (step) return RunStep(*step, std::move(*entry));
  entry->job->Finish();
  Ended();
}

void GroupOpener::RunStep(OpenJob::Step step, Entry entry) {
  if (step == OpenJob::Step::kClaim) entry.sync = FileSystem();
  if (!entry.job->Run(step)) return Ended();
  MutexLock lock(mutex_);
  StageOf(step).made.push_back(std::move(entry));
}

std::optional<std::size_t> GroupOpener::SyncDue(OpenJob::Step step) {
  Entries group;
  {
    MutexLock lock(mutex_);
    Stage& stage = StageOf(step);
    const bool due = stage.ready.empty() || stage.made.size() >= limits_.most_together;
    if (stage.made.empty() || stage.syncing || !due) return std::nullopt;
    const auto count = static_cast<std::ptrdiff_t>(std::min(stage.made.size(), limits_.most_together));
    std::move(stage.made.begin(), stage.made.begin() + count, std::back_inserter(group));
    stage.made.erase(stage.made.begin(), stage.made.begin() + count);
    stage.syncing = true;
  }
  SyncTogether(step, group);
  MutexLock lock(mutex_);
  Stage& stage = StageOf(step);
  stage.syncing = false;
  if (RATCHET_MUTANT("host.join_running_sync")) {
    for (Entry& late : stage.made) late.job->NoteDurable(step), group.push_back(std::move(late));
    stage.made.clear();
  }
  std::move(group.begin(), group.end(),
            std::back_inserter(step == OpenJob::Step::kClaim ? records_.ready : finishing_));
  return group.size();
}

// Leaves in `group` the openings that continue.
void GroupOpener::SyncTogether(OpenJob::Step step, Entries& group) {
  const auto& shared = group.front().sync;
  const bool together = group.size() > limits_.most_single && shared != nullptr &&
                        std::all_of(group.begin(), group.end(), [&shared](const Entry& entry) {
                          return entry.sync == shared && shared->Covers(entry.job->directory());
                        });
  std::vector<Status> results(group.size(), Ok());
  if (together) {
    std::vector<io::Directory*> directories;
    std::vector<io::WritableFile*> files;
    for (const Entry& entry : group) {
      directories.push_back(&entry.job->directory());
      if (io::WritableFile* const file = entry.job->file(step); file != nullptr) files.push_back(file);
    }
    const Status synced = shared->Sync(directories, files);
    if (io::DieOnFailedSync(synced, "openings of regions")) {
      for (const Entry& entry : group) entry.job->NoteDurable(step);
    } else {
      std::fill(results.begin(), results.end(), synced);
    }
  } else {
    RunSideBySide(
        limits_.sync_threads, group.size(), [&](std::size_t i) { results[i] = group[i].job->Sync(step); }, "open-sync");
  }
  Entries left;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (results[i].ok()) {
      left.push_back(std::move(group[i]));
    } else {
      group[i].job->Fail(results[i].error());
      Ended();
    }
  }
  group = std::move(left);
}

void GroupOpener::Ended() {
  {
    MutexLock lock(mutex_);
    --active_;
    if (waiting_.empty() || active_ >= limits_.most_active) return;
    ++active_;
    claims_.ready.push_back(TakeFirst(waiting_));
  }
  Post(1);
}

std::shared_ptr<const io::FileSystemSync> GroupOpener::FileSystem() {
  MutexLock lock(file_system_mutex_);
  std::shared_ptr<const io::FileSystemSync> current = file_system_.lock();
  if (current == nullptr) file_system_ = current = io::FileSystemSync::Of(root_);
  return current;
}

}  // namespace ratchet::regionserver
