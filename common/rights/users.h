// Users: the settings by which a process judges. The mode, the superusers, and the groups of each user.
//
// Superusers are named in a setting, groups in a file that the operator writes on each machine. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/config.h"
#include "common/base/live.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace ratchet::rights {

enum class Mode : std::uint8_t {
  kOff,      // every user may do everything
  kLog,      // likewise; calls that kEnforce would refuse are logged
  kEnforce,  // calls without the right are refused
};

inline constexpr std::size_t kMostGroupsFileBytes = 8UL << 20U;
inline constexpr std::size_t kMostMemberships = 100'000;  // pairs of a user and a group

class Users {
 public:
  // Who is who at one moment. Never changes after it was made.
  struct Table {
    std::set<std::string, std::less<>> superusers;
    std::set<std::string, std::less<>> supergroups;  // without '@'
    std::unordered_map<std::string, std::vector<std::string>> groups;
  };

  // `superusers`: names of users and of @groups, separated by commas. `groups`: the text of the groups file, with lines
  // of the form `group: user, user`; '#' begins a comment. kInvalidArgument names the line that is wrong.
  [[nodiscard]] static Result<Table> Parse(std::string_view superusers, std::string_view groups);

  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] std::shared_ptr<const Table> table() const {
    const MutexLock lock(mutex_);
    return table_;
  }
  void Set(Mode mode, Table table);
  // Rises with each Set, so that what was judged before is judged again.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

  // The texts of the settings.
  struct Source {
    std::string mode = "off";
    std::string superusers;
    std::string groups_file;
  };
  // Reads the groups file and sets the users. After an error the earlier users stay.
  [[nodiscard]] Status Load(Source source);
  // Load while the process runs: an error is logged, and is the problem until a load succeeds.
  void Reload(Source source);
  // Repeats the last one, because the text of the groups file may differ under the same name.
  void LoadAgain();
  // For `ratchet status`: a sentence if the last reload was refused, so that earlier superusers and groups stay.
  [[nodiscard]] std::string problem() const {
    const MutexLock lock(mutex_);
    return problem_;
  }

 private:
  [[nodiscard]] Status LoadSource() REQUIRES(loading_);
  void Note(const Status& loaded);

  Mutex loading_;
  Source source_ GUARDED_BY(loading_);
  std::atomic<std::uint64_t> changes_{0};
  Live<Mode> mode_{Mode::kOff};
  mutable Mutex mutex_;
  std::string problem_ GUARDED_BY(mutex_);
  std::shared_ptr<const Table> table_ GUARDED_BY(mutex_) = std::make_shared<const Table>();
};

// The settings of a process.
struct RightsOptions {
  std::string mode = "off";
  std::string superusers;
  std::string groups_file;
  std::shared_ptr<Users> users = std::make_shared<Users>();

  static void Bind(Settings& settings, RightsOptions& options);
  // Loads the users now, and again when one of the settings changes. `options` must outlive `settings`.
  [[nodiscard]] static Status Begin(Settings& settings, const RightsOptions& options);
};

}  // namespace ratchet::rights
