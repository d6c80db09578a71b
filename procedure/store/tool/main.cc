// ratchet-wal: prints, verifies, queries and repairs the procedure store, and compares it with a master's step tables.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/base/descriptors.h"
#include "common/base/private_files.h"
#include "common/base/resource_failure.h"
#include "common/base/version.h"
#include "common/io/root_numbers.h"
#include "procedure/api/offline_store.h"
#include "procedure/store/tool/wal_tool.h"

namespace {

using namespace ratchet;                   // NOLINT(google-build-using-namespace): a program's main
using namespace ratchet::procedure::tool;  // NOLINT(google-build-using-namespace)

constexpr const char* kFooter =
    "DIR is the cluster's root directory or its 'procedures' directory.\n"
    "Exit codes: 0 done, 1 wrong usage, 2 something could not be read or written, 3 damage (verify, print), an\n"
    "undecided question (repair), or procedures that could not continue (replay).\n"
    "Examples:\n"
    "  ratchet-wal print /data/ratchet --pid 1179\n"
    "  ratchet-wal verify /data/ratchet --json\n"
    "  ratchet-wal replay /data/ratchet --with ./new/ratchet-master\n"
    "  ratchet-wal sql /data/ratchet 'select type, count(*) from procedures group by type'\n"
    "  ratchet-wal repair /data/ratchet --out /tmp/repaired --skip";

struct Flags {
  std::string dir;
  bool json = false;
  std::uint64_t pid = 0;
  std::string since;
  std::string until;
  std::string out;
  bool in_place = false;
  bool cut = false;
  bool skip = false;
  bool reorder = false;
  std::vector<std::string> quarantine;
  std::string master;
};

int Fail(const Error& error, int code) {
  std::cerr << "ratchet-wal: " << error.ToString() << "\n";
  return code;
}

int RunPrint(io::Directory& store, const Flags& flags) {
  PrintOptions options;
  options.json = flags.json;
  if (flags.pid != 0) options.pid = flags.pid;
  for (const auto& [text, target] :
       {std::pair(&flags.since, &options.since_ms), std::pair(&flags.until, &options.until_ms)}) {
    if (text->empty()) continue;
    const auto millis = ParseTime(*text);
    if (!millis.ok()) return Fail(millis.error(), kExitUsage);
    *target = *millis;
  }
  return Print(store, options, std::cout, std::cerr);
}

// Only a master has the step tables: it replaces this process, and its exit codes become this program's.
int RunReplay(const Flags& flags) {
  std::error_code unknown;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string master = flags.master.empty() ? (here.parent_path() / "ratchet-master").string() : flags.master;
  std::vector<const char*> arguments = {master.c_str(), "--replay", flags.dir.c_str()};
  if (flags.json) arguments.push_back("--json");
  arguments.push_back(nullptr);
  ::execv(master.c_str(), const_cast<char* const*>(arguments.data()));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  const std::string why = std::strerror(errno);
  return Fail(Error(Code::kNotFound, master + " cannot be run: " + why + "; name a master's program by --with"),
              kExitDisk);
}

int RunRepair(io::Directory& store, const Flags& flags) {
  if (flags.in_place == !flags.out.empty()) {
    return Fail(Error(Code::kInvalidArgument, "name the target: --out DIR for a repaired copy, or --in-place"),
                kExitUsage);
  }
  RepairOptions options;
  options.on_damage = flags.cut    ? procedure::OnDamage::kCut
                      : flags.skip ? procedure::OnDamage::kSkip
                                   : procedure::OnDamage::kStop;
  options.reorder = flags.reorder;
  options.quarantine = flags.quarantine;
  if (const auto root = io::PosixDisk().Open(store.path() + "/.."); root.ok()) {
    const auto numbers = io::ReadRootNumbers(**root);
    if (!numbers.ok()) return Fail(numbers.error(), kExitDisk);
    if (numbers->mark) options.least_sequence = numbers->mark->sequence;
  }
  const std::string base = flags.in_place ? store.path() : flags.out;
  auto quarantine = io::PosixDisk().OpenOrMake(base + "/../quarantine");
  if (!flags.in_place) quarantine = io::PosixDisk().OpenOrMake(flags.out + "/quarantine");
  if (!quarantine.ok()) return Fail(quarantine.error(), kExitDisk);
  if (flags.in_place) return Repair(store, store, **quarantine, options, std::cout, std::cerr);
  auto target = io::PosixDisk().OpenOrMake(flags.out + "/procedures");
  if (!target.ok()) return Fail(target.error(), kExitDisk);
  const auto there = (*target)->List();
  if (!there.ok()) return Fail(there.error(), kExitDisk);
  if (!there->empty()) return Fail(Error(Code::kAlreadyExists, flags.out + "/procedures is not empty"), kExitUsage);
  return Repair(store, **target, **quarantine, options, std::cout, std::cerr);
}

}  // namespace

int main(int argc, char** argv) {
  ratchet::KeepFilesPrivate();
  if (ratchet::PrintedVersion("ratchet-wal", argc, argv)) return 0;
  ratchet::HandleResourceFailure("ratchet-wal", kExitDisk);
  ratchet::RaiseDescriptorLimit();
  CLI::App app{"Prints, verifies, queries and repairs Ratchet's procedure store."};
  app.require_subcommand(1);
  app.footer(kFooter);
  Flags flags;
  SqlOptions query;
  auto* print = app.add_subcommand("print", "print every record, in order, including those that no longer count");
  auto* verify = app.add_subcommand("verify", "check all segments that count; exit 3 if one is damaged");
  auto* repair =
      app.add_subcommand("repair", "write all live records into a new store; flags decide about damaged ones");
  auto* sql = app.add_subcommand(
      "sql", "run one SELECT over the store's records (SQLite's language); .schema lists the tables");
  auto* replay = app.add_subcommand(
      "replay", "list the procedures that a master's program could not continue: the check before an upgrade");
  for (auto* command : {print, verify, repair, sql, replay}) {
    command->add_option("DIR", flags.dir, "root or procedures directory")->required();
    command->footer(kFooter);
  }
  sql->add_option("STATEMENT", query.statement, "SELECT ..., .schema, or .schema TABLE")->required();
  sql->add_flag("--csv", query.csv, "comma-separated values instead of a table");
  replay->add_option("--with", flags.master, "the master's program (default: ratchet-master next to this program)");
  for (auto* command : {print, verify, sql, replay})
    command->add_flag("--json", flags.json, "JSON instead of text (print: one object a line)");
  print->add_option("--pid", flags.pid, "only records of this procedure")->check(CLI::PositiveNumber);
  print->add_option("--since", flags.since, "only frames written at or after this time (UTC or ms since 1970)");
  print->add_option("--until", flags.until, "only frames written at or before this time");
  repair->add_option("--out", flags.out,
                     "directory for the repaired copy; <out>/procedures must not exist or be empty");
  repair->add_flag("--in-place", flags.in_place, "repair the store itself; fences a master that still runs");
  auto* cut = repair->add_flag("--cut", flags.cut, "drop all records after damage in the same segment");
  repair->add_flag("--skip", flags.skip, "drop only damaged records")->excludes(cut);
  repair->add_flag("--reorder", flags.reorder, "records out of order: the highest version of a procedure wins");
  repair->add_option("--quarantine", flags.quarantine, "leave this segment out (repeatable)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  if (replay->parsed()) return RunReplay(flags);
  auto store = procedure::OpenStoreDirectory(flags.dir);
  if (!store.ok()) return Fail(store.error(), kExitDisk);
  if (print->parsed()) return RunPrint(**store, flags);
  if (verify->parsed()) return Verify(**store, flags.json, std::cout, std::cerr);
  if (sql->parsed()) {
    query.json = flags.json;
    return Sql(**store, query, std::cout, std::cerr);
  }
  return RunRepair(**store, flags);
}
