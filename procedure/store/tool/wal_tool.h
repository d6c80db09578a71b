// The commands of ratchet-wal, without the parsing of flags. Each function writes for a human or as JSON lines and
// returns the exit code.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "common/io/disk.h"
#include "procedure/store/reader.h"

namespace ratchet::procedure::tool {

enum ExitCode : int {
  kExitOk = 0,
  kExitUsage = 1,
  kExitDisk = 2,    // a file could not be read or written
  kExitDamage = 3,  // verify: damage was found; print: something could not be printed; repair: a decision is missing
};

struct PrintOptions {
  bool json = false;
  std::optional<std::uint64_t> pid;
  std::int64_t since_ms = INT64_MIN;  // wall clock of the frame
  std::int64_t until_ms = INT64_MAX;
};
// Prints every valid record of every segment, in order; those that no longer count are included and marked.
int Print(io::Directory& store, const PrintOptions& options, std::ostream& out, std::ostream& err);

// Checks all segments that count and reports the role of each segment.
int Verify(io::Directory& store, bool json, std::ostream& out, std::ostream& err);

struct RepairOptions {
  OnDamage on_damage = OnDamage::kStop;  // kStop: only undamaged stores, or damage handled by `quarantine`
  bool reorder = false;
  std::vector<std::string> quarantine;  // segments to leave out
  // The repaired store ends at this sequence at least: a master refuses one that ends below its mark, S114 (no start
  // without the past).
  std::uint64_t least_sequence = 0;
};
// Reads `from` by the operator's decisions and writes all live records as one new segment of the next epoch into `to`
// (which may be the same directory: then the claim fences a master that still runs). Damaged and left out files are
// copied into `quarantine`.
int Repair(io::Directory& from, io::Directory& to, io::Directory& quarantine, const RepairOptions& options,
           std::ostream& out, std::ostream& err);

struct SqlOptions {
  std::string statement;  // one SELECT, ".schema" or ".schema TABLE"
  bool json = false;      // an array of objects
  bool csv = false;
};
// Runs one query over the records of a store, whether a master owns it or not.
int Sql(io::Directory& store, const SqlOptions& options, std::ostream& out, std::ostream& err);

// "2026-11-21T04:05:06.789Z".
[[nodiscard]] std::string FormatTime(std::int64_t wall_millis);
// Milliseconds since 1970, or "2026-11-21", "2026-11-21T04:05", "2026-11-21T04:05:06", in UTC.
[[nodiscard]] Result<std::int64_t> ParseTime(const std::string& text);

// HBase's names of the states of procedures; "?" for an unknown number.
// The numbers of OutcomeKind (procedure/api/step_table.h) by name: the tool does not link the framework.
[[nodiscard]] std::string_view OutcomeText(std::uint32_t number);
[[nodiscard]] std::string_view StateName(std::uint32_t state);
// A stored procedure for a human ("CreateTable RUNNABLE step 3 ...") or as a JSON object.
[[nodiscard]] std::string DescribeProcedure(std::string_view bytes);
// Returns the same as a JSON object.
[[nodiscard]] std::string ProcedureJson(std::string_view bytes);

}  // namespace ratchet::procedure::tool
