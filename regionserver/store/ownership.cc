#include "regionserver/store/ownership.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "common/io/unneeded_files.h"

namespace ratchet::regionserver {
namespace {

constexpr std::string_view kManifestPrefix = "manifest.";
constexpr std::string_view kServingPrefix = "serving.";
constexpr std::string_view kOpenedPrefix = "opened.";

std::uint64_t NumberAfter(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return 0;
  name.remove_prefix(prefix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : 0;
}

Status CheckNoHigher(const io::Directory& directory, const std::vector<std::string>& names, std::uint64_t open_number) {
  for (const std::string& name : names)
    if (ManifestNumber(name) > open_number)
      return Error(Code::kFenced,
                   fmt::format("{}: opening {} is superseded by {}", directory.path(), open_number, name));
  return Ok();
}

// The checks of an opening that has just made its manifest.
Result<std::vector<std::string>> LookForHigher(io::Directory& directory, std::uint64_t open_number) {
  RATCHET_ASSIGN(std::vector<std::string> names, directory.List());
  if (!RATCHET_MUTANT("manifest.no_opening_check")) RATCHET_TRY(CheckNoHigher(directory, names, open_number));
  return names;
}

// Another opening, higher than the mark's but lower than this one, may have renamed it before.
Status RetireMark(io::Directory& directory, const std::string& mark) {
  const Status renamed = directory.Rename(mark, io::UnneededName(mark));
  if (renamed.ok() || renamed.error().code() == Code::kNotFound) return Ok();
  return renamed;
}

}  // namespace

std::string ManifestName(std::uint64_t open_number) { return fmt::format("{}{}", kManifestPrefix, open_number); }
std::string ServingName(std::uint64_t open_number) { return fmt::format("{}{}", kServingPrefix, open_number); }
std::uint64_t ManifestNumber(std::string_view name) { return NumberAfter(kManifestPrefix, name); }
std::uint64_t ServingNumber(std::string_view name) { return NumberAfter(kServingPrefix, name); }
std::uint64_t OpenedNumber(std::string_view name) { return NumberAfter(kOpenedPrefix, name); }

std::uint64_t OpeningOfStoreFile(std::string_view name) {
  constexpr std::string_view kSuffix = ".sst";
  const std::size_t dash = name.find('-');
  if (!name.ends_with(kSuffix) || dash == std::string_view::npos) return 0;
  return NumberAfter({}, name.substr(0, dash));
}

Result<std::vector<std::string>> TakeMarks(io::Directory& directory, std::uint64_t open_number) {
  if (!RATCHET_MUTANT("region.mark_before_look")) {
    RATCHET_ASSIGN(const std::vector<std::string> first, LookForHigher(directory, open_number));
  }
  // An existing mark of this name is from an attempt that made no manifest, because the manifest would still exist
  // otherwise.
  const auto made = directory.Create(ServingName(open_number));
  if (!made.ok() && made.error().code() != Code::kAlreadyExists) return made.error();
  RATCHET_ASSIGN(std::vector<std::string> names, LookForHigher(directory, open_number));
  for (const std::string& name : names) {
    const std::uint64_t lower = ServingNumber(name);
    if (lower > 0 && lower < open_number && !RATCHET_MUTANT("region.keep_lower_marks"))
      RATCHET_TRY(RetireMark(directory, name));
  }
  return names;
}

Result<std::vector<std::string>> ClaimRegion(io::Directory& directory, std::uint64_t open_number) {
  RATCHET_ASSIGN(std::vector<std::string> names, TakeMarks(directory, open_number));
  if (!RATCHET_MUTANT("manifest.no_dir_sync")) {
    const Status synced = directory.Sync();
    if (!io::DieOnFailedSync(synced, "region directory")) return synced.error();
  }
  return names;
}

Status CheckOwner(io::Directory& directory, std::uint64_t open_number) {
  RATCHET_ASSIGN(const bool there, directory.Exists(ServingName(open_number)));
  if (there) return Ok();
  // This is rare, so it may cost a listing: the opening that took the mark must be found, otherwise the owner is
  // unknown.
  RATCHET_ASSIGN(const std::vector<std::string> names, directory.List());
  RATCHET_TRY(CheckNoHigher(directory, names, open_number));
  return Error(Code::kCorruption, fmt::format("{}: the mark {} is gone, but there is no higher opening",
                                              directory.path(), ServingName(open_number)));
}

std::uint64_t HighestOpened(const std::vector<std::string>& names) {
  std::uint64_t highest = 0;
  for (const std::string& name : names) highest = std::max(highest, OpenedNumber(name));
  return highest;
}

Status SayOpened(io::Directory& directory, std::uint64_t before, std::uint64_t open_number) {
  if (before >= open_number) return Ok();
  const std::string name = fmt::format("{}{}", kOpenedPrefix, open_number);
  if (before > 0) {
    const Status renamed = directory.Rename(fmt::format("{}{}", kOpenedPrefix, before), name);
    if (renamed.ok() || renamed.error().code() != Code::kNotFound) return renamed;
  }
  RATCHET_ASSIGN(const std::unique_ptr<io::WritableFile> file, directory.Create(name));
  return file->Close();
}

Status CheckNothingNewer(const io::Directory& directory, const std::vector<std::string>& names, std::uint64_t newest,
                         std::uint64_t open_number) {
  std::uint64_t lost = 0;  // the highest one, which inherited the state of lower ones
  std::string shows;
  for (const std::string& name : names) {
    const std::uint64_t opening = std::max(OpenedNumber(name), OpeningOfStoreFile(name));
    if (opening > std::max(newest, lost) && opening < open_number) lost = opening, shows = name;
  }
  if (lost == 0 || RATCHET_MUTANT("region.open_over_lost_manifest")) return Ok();
  return Error(
      Code::kCorruption,
      fmt::format("{}: {} shows that {} had a state, but it is missing or cannot be read, and {}. The region stays "
                  "closed, and none of its files is deleted: restore the manifest from a copy (archive/ has recently "
                  "retired files)",
                  directory.path(), shows, ManifestName(lost),
                  newest == 0 ? "no other manifest is there" : "the newest readable one is " + ManifestName(newest)));
}

}  // namespace ratchet::regionserver
