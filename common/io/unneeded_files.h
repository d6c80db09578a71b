// What the owner of a file says on the storage itself about files that are not needed any more (rule S32). Region
// servers say it and never delete; the master's cleaner believes it, moves such files into the archive, and deletes
// them later.
//
// Such a word is true for ever once it is true: it is spoken after the CHECK that follows the manifest on which it
// rests, every later opening of a region begins with what that manifest said, and names are never used again. So it may
// be believed at any later time and by any process: by a master after a failover, by a fencer, by a splitter, even when
// its speaker was paused or fenced before it spoke.
//
//   <log directory>/covered.log.0000000007   every "log." file with a number up to 7 holds only what manifests cover
//   <region directory>/unneeded.<file>       <file> is in no manifest that still counts, and never will be again
//
// Pure functions of names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::io {

inline constexpr std::string_view kRegionLogPrefix = "log";
inline constexpr std::string_view kMetaLogPrefix = "meta";

// A file of a region server's log: "log.0000000003", of hbase:meta "meta.0000000001". Numbers begin at 1.
struct LogFileName {
  std::string prefix;
  std::uint64_t number = 0;
  bool operator==(const LogFileName&) const = default;
};
[[nodiscard]] std::string ToString(const LogFileName& name);
// Nothing when it is not the name of a log.
[[nodiscard]] std::optional<LogFileName> ParseLogFileName(std::string_view name);

// "covered.log.0000000007". The one mark of a prefix moves up by renaming; should two be there, the higher one counts.
[[nodiscard]] std::string CoveredMark(const LogFileName& newest_covered);
// What the marks among the names of a log directory say of this prefix: 0 when nothing.
[[nodiscard]] std::uint64_t CoveredUpTo(const std::vector<std::string>& names, std::string_view prefix);
[[nodiscard]] bool IsCovered(const std::vector<std::string>& names, const LogFileName& log);

inline constexpr std::string_view kUnneededPrefix = "unneeded.";
[[nodiscard]] std::string UnneededName(std::string_view file);
// The file's name of old; nothing when the name is no such word.
[[nodiscard]] std::optional<std::string> ParseUnneededName(std::string_view name);

}  // namespace ratchet::io
