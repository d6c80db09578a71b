#include "common/io/root_numbers.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "common/io/fatal.h"

namespace ratchet::io {
namespace {

constexpr std::string_view kPid = "pid";
constexpr std::string_view kStore = "store";
constexpr std::uint64_t kGreatestNumber = 1ULL << 62;

std::optional<std::uint64_t> NumberIn(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  if ((text[0] == '0' && text.size() > 1) || value > kGreatestNumber) return std::nullopt;
  return value;
}

std::string NameOf(const StoreMark& mark) { return fmt::format("{}.{}.{}", kStore, mark.epoch, mark.sequence); }

Status SyncNames(Directory& directory) {
  const Status synced = directory.Sync();
  if (!DieOnFailedSync(synced, directory.path())) return synced;
  return Ok();
}

// Makes an empty file; Ok also when it exists.
Status MakeEmpty(Directory& directory, const std::string& name) {
  auto made = directory.Create(name);
  if (!made.ok()) return made.error().code() == Code::kAlreadyExists ? Ok() : Status(made.error());
  return (*made)->Close();
}

// A rename, because it needs neither an inode nor space. The file may be gone: another master, perhaps a deposed one,
// was faster.
Status Replace(Directory& numbers, const std::optional<std::string>& from, const std::string& to) {
  if (from) {
    const Status renamed = numbers.Rename(*from, to);
    if (renamed.ok() || renamed.error().code() != Code::kNotFound) return renamed;
  }
  return MakeEmpty(numbers, to);
}

std::string NameOfLimit(std::uint64_t limit) { return fmt::format("{}.{}", kPid, limit); }

}  // namespace

std::optional<std::uint64_t> NumberAfter(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix) || name.size() <= prefix.size() || name[prefix.size()] != '.') return std::nullopt;
  return NumberIn(name.substr(prefix.size() + 1));
}

std::optional<StoreMark> ParseStoreMark(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto epoch = NumberAfter(kStore, name.substr(0, dot));
  const auto sequence = NumberIn(name.substr(dot + 1));
  if (!epoch || !sequence) return std::nullopt;
  return StoreMark{*epoch, *sequence};
}

RootNumbers NumbersIn(const std::vector<std::string>& names) {
  RootNumbers numbers;
  for (const std::string& name : names) {
    if (const auto limit = NumberAfter(kPid, name)) numbers.pid_limit = std::max(numbers.pid_limit, *limit);
    if (const auto mark = ParseStoreMark(name)) numbers.mark = numbers.mark ? std::max(*numbers.mark, *mark) : *mark;
  }
  return numbers;
}

Result<RootNumbers> ReadRootNumbers(Directory& root) {
  auto folder = root.OpenDir(kNumbersFolder);
  if (!folder.ok() && folder.error().code() == Code::kNotFound) return RootNumbers{};
  if (!folder.ok()) return std::move(folder).error();
  RATCHET_ASSIGN(const std::vector<std::string> names, (*folder)->List());
  return NumbersIn(names);
}

Result<std::unique_ptr<Directory>> EnsureRootNumbers(Directory& root) {
  const Status made = root.MakeDir(kNumbersFolder);
  if (!made.ok() && made.error().code() != Code::kAlreadyExists) return made.error();
  RATCHET_ASSIGN(std::unique_ptr<Directory> numbers, root.OpenDir(kNumbersFolder));
  RATCHET_ASSIGN(const std::vector<std::string> names, numbers->List());
  if (!NumbersIn(names).mark) RATCHET_TRY(MakeEmpty(*numbers, NameOf({})));
  if (!RATCHET_MUTANT("guard.numbers_not_durable")) {
    RATCHET_TRY(SyncNames(*numbers));
    RATCHET_TRY(SyncNames(root));
  }
  return numbers;
}

// A power failure before the sync may keep one of the names and lose the other. That is harmless, because each of the
// numbers only rises, and neither is relied upon yet.
Status RaiseRootNumbers(Directory& numbers, const RootNumbers& to) {
  RATCHET_ASSIGN(const std::vector<std::string> names, numbers.List());
  const RootNumbers found = NumbersIn(names);
  if (to.pid_limit > found.pid_limit) {
    std::optional<std::string> from;
    if (found.pid_limit > 0) from = NameOfLimit(found.pid_limit);
    RATCHET_TRY(Replace(numbers, from, NameOfLimit(to.pid_limit)));
  }
  if (to.mark && (!found.mark || *found.mark < *to.mark)) {
    std::optional<std::string> from;
    if (found.mark) from = NameOf(*found.mark);
    RATCHET_TRY(Replace(numbers, from, NameOf(*to.mark)));
  }
  return SyncNames(numbers);
}

Status RaisePidLimit(Directory& numbers, std::uint64_t limit) {
  return RaiseRootNumbers(numbers, {std::nullopt, limit});
}

Status RaiseStoreMark(Directory& numbers, StoreMark mark) { return RaiseRootNumbers(numbers, {mark, 0}); }

}  // namespace ratchet::io
