#include "common/io/root_access.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/mutex.h"
#include "common/base/small_file.h"

namespace ratchet::io {
namespace {

constexpr std::uint32_t kModeBits = 07777;
constexpr const char* kKeyFile = "cluster.key";  // common/io/cluster_key.h, which includes this unit

// The problem of the last look, which the status shows from another thread.
class LastLook {
 public:
  // Returns whether the problem is a new one.
  bool Note(const std::string& problem) {
    const MutexLock lock(mutex_);
    return std::exchange(problem_, problem) != problem && !problem.empty();
  }
  std::string problem() const {
    const MutexLock lock(mutex_);
    return problem_;
  }

 private:
  mutable Mutex mutex_;
  std::string problem_ GUARDED_BY(mutex_);
};

LastLook& TheLastLook() {
  static LastLook& last = *new LastLook;
  return last;
}

void NoteProblem(const std::string& problem) {
  if (TheLastLook().Note(problem)) RATCHET_LOG(kWarn, "security: {}", problem);
}

}  // namespace

RootVerdict JudgeRoot(const std::string& path, const FileMode& root, std::uint32_t self) {
  const std::uint32_t mode = root.mode & kModeBits;
  RootVerdict verdict;
  if ((mode & (S_IWGRP | S_IWOTH)) != 0 && !RATCHET_MUTANT("root.any_writer")) {
    verdict.usable = Error(Code::kFailedPrecondition,
                           fmt::format("{} has mode {:04o}, so other users may change the cluster's data; run: "
                                       "chmod go-w {}",
                                       path, mode, path));
    verdict.problem = verdict.usable.error().message();
  } else if ((mode & (S_IROTH | S_IXOTH)) != 0) {
    verdict.problem = fmt::format("{} has mode {:04o}, so other users may read the cluster's data; run: chmod 700 {}",
                                  path, mode, path);
  } else if (root.owner != self && root.owner != 0 && self != 0) {
    verdict.problem =
        fmt::format("{} belongs to the user {}, who may change the cluster's data; this process runs as the user {}",
                    path, root.owner, self);
  }
  return verdict;
}

Status CheckRootAccess(Directory& root) {
  RATCHET_ASSIGN(const std::optional<FileMode> mode, ReadMode(root, "."));
  if (!mode.has_value()) return Ok();
  const RootVerdict verdict = JudgeRoot(root.path(), *mode, ::geteuid());
  if (verdict.usable.ok()) NoteProblem(verdict.problem);
  return verdict.usable;
}

void LookAtRootAccess(Directory& root) {
  const auto mode = ReadMode(root, ".");
  if (!mode.ok()) return;  // the storage does not answer: the last look remains
  std::string problem = mode->has_value() ? JudgeRoot(root.path(), **mode, ::geteuid()).problem : std::string();
  const Status key = CheckSecretFile(root, kKeyFile);
  if (!key.ok() && key.error().code() == Code::kFailedPrecondition)
    problem += (problem.empty() ? "" : "; ") + key.error().message();
  NoteProblem(problem);
}

std::string RootAccessProblem() { return TheLastLook().problem(); }

void CloseNewRoot(Directory& root) {
  const auto mode = ReadMode(root, ".");
  if (!mode.ok() || !mode->has_value() || (*mode)->owner != ::geteuid()) return;
  if (((*mode)->mode & kModeBits) == S_IRWXU) return;
  if (ChangeMode(root, S_IRWXU).ok())
    RATCHET_LOG(kInfo, "The new root {} had mode {:04o}, and has mode 0700 from now on", root.path(),
                (*mode)->mode & kModeBits);
  LookAtRootAccess(root);
}

Status CheckSecretFile(Directory& directory, const std::string& name) {
  RATCHET_ASSIGN(const std::optional<FileMode> mode, ReadMode(directory, name));
  if (!mode.has_value() || RATCHET_MUTANT("root.any_reader_of_the_key")) return Ok();
  if ((mode->mode & SecretFile().forbidden) == 0) return Ok();
  const std::string path = fmt::format("{}/{}", directory.path(), name);
  return Error(Code::kFailedPrecondition,
               fmt::format("{} has mode {:04o}: it holds a secret, and other users may read or change it; run: "
                           "chmod 600 {}",
                           path, mode->mode & kModeBits, path));
}

}  // namespace ratchet::io
