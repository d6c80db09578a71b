#include "master/telemetry/storage_book.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/mutant.h"

namespace ratchet::master {
namespace {

constexpr std::size_t kLongestWhy = 500;

}  // namespace

StorageAnswer StorageBook::Put(const ServerName& server, const StorageReport& report, TimePoint now) {
  MutexLock lock(mutex_);
  sweep_.Count(pages_, now, kStoragePageAge);
  Page& page = pages_[server];
  page.at = now;
  page.hangs_since.reset();
  if (report.oldest_unfinished.has_value()) page.hangs_since = now - *report.oldest_unfinished;
  if (page.hangs_since.has_value()) {
    hanging_[server] = Hang{*page.hangs_since, now};
  } else {
    hanging_.erase(server);
  }
  // Keeps the newest proof, because reports may be processed out of order.
  if (report.proof.has_value()) page.proven_at = std::max(page.proven_at.value_or(TimePoint{}), now - *report.proof);

  page.lacks_room.reset();
  if (report.put_off_compactions > 0)
    page.lacks_room = fmt::format("{} compactions wait for disk space: {}", report.put_off_compactions,
                                  report.put_off_why.substr(0, kLongestWhy));

  page.refuses.reset();
  if (report.unserved_regions > 0)
    page.refuses = fmt::format("{} open regions refuse every request: {}", report.unserved_regions,
                               report.unserved_why.substr(0, kLongestWhy));

  StorageAnswer answer;
  std::erase_if(hanging_, [now](const auto& entry) { return now - entry.second.reported > kStorageReportFresh; });
  answer.prove = std::any_of(hanging_.begin(), hanging_.end(),
                             [now](const auto& entry) { return now - entry.second.since >= kStorageProblem; });
  const Millis least = std::max(report.limit, kStorageProblem);
  if (report.limit == Millis(0) || !page.hangs_since.has_value() || now - *page.hangs_since < least) return answer;
  const TimePoint since = *page.hangs_since;
  if (!OthersAnswer(&server, since, now)) return answer;
  if (let_go_.has_value() && *let_go_ == server) {
    answer.may_withdraw = true;
    return answer;
  }
  const bool followed = let_go_.has_value() && since > let_go_at_ && since - let_go_at_ < kMayHaveTakenOver;
  if (followed && now - let_go_at_ < kBetweenWithdrawals) return answer;
  let_go_ = server;
  let_go_at_ = now;
  answer.may_withdraw = true;
  return answer;
}

// A server that hangs itself does not count, whatever it proved before.
bool StorageBook::OthersAnswer(const ServerName* but, TimePoint since, TimePoint now) const {
  return std::any_of(pages_.begin(), pages_.end(), [&](const auto& entry) {
    const auto& [server, page] = entry;
    if (but != nullptr && server == *but) return false;
    if (now - page.at > kStorageReportFresh) return false;
    if (page.hangs_since.has_value() && now - *page.hangs_since >= kStorageProblem) return false;
    const bool proven =
        page.proven_at.has_value() && *page.proven_at > since && now - *page.proven_at <= kStorageReportFresh;
    return proven || RATCHET_MUTANT("storage.idle_is_better_off");
  });
}

std::optional<Millis> StorageBook::HangsFor(const ServerName& server, TimePoint now) const {
  MutexLock lock(mutex_);
  const auto found = pages_.find(server);
  if (found == pages_.end() || !found->second.hangs_since.has_value()) return std::nullopt;
  const auto age = std::chrono::duration_cast<Millis>(now - *found->second.hangs_since);
  if (age < kStorageProblem) return std::nullopt;
  return age;
}

std::optional<std::string> StorageBook::LacksRoom(const ServerName& server) const {
  MutexLock lock(mutex_);
  const auto found = pages_.find(server);
  return found == pages_.end() ? std::nullopt : found->second.lacks_room;
}

std::optional<std::string> StorageBook::Refuses(const ServerName& server) const {
  MutexLock lock(mutex_);
  const auto found = pages_.find(server);
  return found == pages_.end() ? std::nullopt : found->second.refuses;
}

bool StorageBook::AnswersSince(TimePoint since, TimePoint now) const {
  MutexLock lock(mutex_);
  return OthersAnswer(nullptr, since, now);
}

}  // namespace ratchet::master
