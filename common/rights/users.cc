#include "common/rights/users.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/small_file.h"
#include "common/rights/rights_entry.h"

namespace ratchet::rights {
namespace {

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Calls `visit` with each part of `text` between separators, without blanks around it.
template <class Visit>
void VisitParts(std::string_view text, char separator, Visit visit) {
  for (;;) {
    const std::size_t end = text.find(separator);
    visit(Trim(text.substr(0, end)));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

Mode ModeOf(std::string_view name) {
  if (name == "enforce") return Mode::kEnforce;
  return name == "log" ? Mode::kLog : Mode::kOff;
}

}  // namespace

Result<Users::Table> Users::Parse(std::string_view superusers, std::string_view groups) {
  Table table;
  Status problem = Ok();
  const auto fail = [&problem](std::string text) {
    if (problem.ok()) problem = Error(Code::kInvalidArgument, std::move(text));
  };
  VisitParts(superusers, ',', [&](std::string_view name) {
    if (name.empty()) return;
    const bool group = name.front() == kGroupMark;
    const std::string_view bare = group ? name.substr(1) : name;
    if (!CheckGrantee(bare).ok() || bare.front() == kGroupMark) {
      return fail(fmt::format("--superusers: '{}' is not a valid name of a user or @group", name));
    }
    (group ? table.supergroups : table.superusers).emplace(bare);
  });
  std::size_t number = 0;
  std::size_t pairs = 0;
  VisitParts(groups, '\n', [&](std::string_view line) {
    ++number;
    line = Trim(line.substr(0, line.find('#')));
    if (line.empty()) return;
    const std::size_t colon = line.find(':');
    const std::string_view group = Trim(line.substr(0, colon));
    if (colon == std::string_view::npos || !CheckGrantee(group).ok() || group.front() == kGroupMark) {
      return fail(fmt::format("line {} of the groups file is not of the form 'group: user, user'", number));
    }
    VisitParts(line.substr(colon + 1), ',', [&](std::string_view user) {
      if (user.empty()) return;
      if (!CheckGrantee(user).ok() || user.front() == kGroupMark) {
        return fail(fmt::format("line {} of the groups file: '{}' is not a valid user name", number, user));
      }
      if (++pairs > kMostMemberships) {
        return fail(fmt::format("the groups file has more than {} memberships", kMostMemberships));
      }
      table.groups[std::string(user)].emplace_back(group);
    });
  });
  RATCHET_TRY(problem);
  return table;
}

void Users::Set(Mode mode, Table table) {
  auto next = std::make_shared<const Table>(std::move(table));
  {
    const MutexLock lock(mutex_);
    table_ = std::move(next);
  }
  mode_ = mode;
  ++changes_;
}

Status Users::LoadSource() {
  std::string groups;
  if (!source_.groups_file.empty()) {
    auto read = ReadSmallFile(source_.groups_file, kMostGroupsFileBytes, RuleFile());
    if (!read.ok()) return read.error().Annotate("--groups-file");
    groups = *std::move(read);
  }
  RATCHET_ASSIGN(Users::Table table, Users::Parse(source_.superusers, groups));
  Set(ModeOf(source_.mode), std::move(table));
  return Ok();
}

Status Users::Load(Source source) {
  const MutexLock lock(loading_);
  source_ = std::move(source);
  return LoadSource();
}

void Users::Note(const Status& loaded) {
  if (!loaded.ok()) RATCHET_LOG(kError, "Rights: the earlier superusers and groups stay: {}", loaded.error().message());
  const MutexLock lock(mutex_);
  problem_ = loaded.ok() ? std::string()
                         : fmt::format("rights: a reload was refused, the earlier superusers and groups stay: {}",
                                       loaded.error().message());
}

void Users::Reload(Source source) {
  const MutexLock lock(loading_);
  source_ = std::move(source);
  Note(LoadSource());
}

void Users::LoadAgain() {
  const MutexLock lock(loading_);
  Note(LoadSource());
}

void RightsOptions::Bind(Settings& settings, RightsOptions& options) {
  settings.AddText({"rights",
                    "Whether users need rights: off (each may do everything), log (likewise; what enforce would refuse "
                    "is logged), enforce. Masters and region servers of a cluster should have the same.",
                    {}},
                   &options.mode, Presence::kOptional, {"off", "log", "enforce"});
  settings.AddText(
      {"superusers", "Users and @groups that need no right for anything, separated by commas.", {"hbase.superuser"}},
      &options.superusers);
  settings.AddText({"groups-file",
                    "File with the groups of users, in lines of the form 'group: user, user'; rights and superusers "
                    "name a group as @group. SIGHUP reads it again. Empty: no groups.",
                    {}},
                   &options.groups_file);
}

Status RightsOptions::Begin(Settings& settings, const RightsOptions& options) {
  const auto source = [&options] { return Users::Source{options.mode, options.superusers, options.groups_file}; };
  RATCHET_TRY(options.users->Load(source()));
  for (const char* name : {"rights", "superusers", "groups-file"})
    settings.OnReload(name, [&options, source] { options.users->Reload(source()); });
  return Ok();
}

}  // namespace ratchet::rights
