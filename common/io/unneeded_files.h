// Marks with which the owner of a file declares on the storage itself that files are no longer needed, S32 (two-stage
// cleaner). Region servers write the marks and never delete; the master's cleaner trusts them, moves such files into
// the archive, and deletes them later.
//
// A mark stays valid permanently: it is written after the CHECK that follows the manifest on which it depends, every
// later opening of a region begins with that manifest's content, and names are never reused. So any process may trust
// it at any later time: a master after a failover, a fencer, a splitter, even if the writer was paused or fenced before
// it wrote the mark.
//
//   <log directory>/covered.log.0000000007   every "log." file with a number up to 7 holds only what manifests cover
//   <log directory>/made.log.0000000008      every "log." file up to this number was made
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

// A file of a region server's log: "log.0000000003", or for hbase:meta "meta.0000000001". Numbers begin at 1.
struct LogFileName {
  std::string prefix;
  std::uint64_t number = 0;
  bool operator==(const LogFileName&) const = default;
};
[[nodiscard]] std::string ToString(const LogFileName& name);
// nullopt when it is not the name of a log.
[[nodiscard]] std::optional<LogFileName> ParseLogFileName(std::string_view name);

// "covered.log.0000000007". The only mark of a prefix is renamed upwards; if there are two, the higher one counts.
[[nodiscard]] std::string CoveredMark(const LogFileName& newest_covered);
// The highest number in the marks of this prefix among the names of a log directory; 0: there is none.
[[nodiscard]] std::uint64_t CoveredUpTo(const std::vector<std::string>& names, std::string_view prefix);
[[nodiscard]] bool IsCovered(const std::vector<std::string>& names, const LogFileName& log);

// "made.log.0000000003": the file with this number, and every one before it, was durable in the directory before the
// mark was. A server renames the only mark of a prefix upwards after it has made a log file, before it writes to the
// file. So a log up to this number that is missing, and is not covered, is lost, S119 (made logs are required).
[[nodiscard]] std::string MadeMark(const LogFileName& newest_made);
// Returns the highest number in the marks of this prefix among the names of a log directory. 0: there is none, because
// a server of an earlier version has made the logs, or because this log was never opened.
[[nodiscard]] std::uint64_t MadeUpTo(const std::vector<std::string>& names, std::string_view prefix);

inline constexpr std::string_view kUnneededPrefix = "unneeded.";
[[nodiscard]] std::string UnneededName(std::string_view file);
// The original name of the file; nullopt when the name is not such a mark.
[[nodiscard]] std::optional<std::string> ParseUnneededName(std::string_view name);

}  // namespace ratchet::io
