#include <algorithm>
#include <ostream>
#include <set>

#include "common/base/clock.h"
#include "common/io/record_log.h"
#include "procedure/store/claim.h"
#include "procedure/store/format.h"
#include "procedure/store/reader.h"
#include "procedure/store/tool/wal_tool.h"

namespace ratchet::procedure::tool {
namespace {

// Writes all live records as the one segment of `epoch`. It gets its name when it is complete: a repair that dies
// leaves the store unchanged.
Status WriteRepaired(io::Directory& to, Epoch epoch, const StoreContents& contents, const std::string& how) {
  const SegmentId id{epoch, 1};
  const std::string unfinished = NumberedName(kFillingPrefix, id);
  RATCHET_ASSIGN(auto file, to.Create(unfinished));
  io::RecordWriter log(std::move(file), SegmentIdentity(id));
  FrameBuilder frame(log.Begin(), SystemClock().WallMillis());
  SegmentStart start;
  start.id = id;
  start.low_water = id;  // no older segment counts
  start.max_pid = contents.max_pid;
  start.owner = how;
  frame.Start(start);
  frame.Batch(contents.last_sequence);
  for (const LoadedRecord& loaded : contents.records) {
    if (loaded.record.pid.valid()) frame.Copy(loaded.record.pid, loaded.record.version, loaded.record.bytes);
  }
  for (const auto& [key, loaded] : contents.system) frame.SystemPut(key, loaded.value);
  RATCHET_TRY(log.End(kFrameRecord, kFrameVersion, contents.last_sequence));
  RATCHET_TRY(log.Sync());
  RATCHET_TRY(to.Rename(unfinished, SegmentName(id)));
  return to.Sync();
}

// The epoch must rise in another directory as well, so that a name never has two meanings.
Result<Epoch> ClaimFor(io::Directory& from, io::Directory& to, bool in_place) {
  if (in_place) return ClaimNextEpoch(to);
  RATCHET_ASSIGN(const auto names, from.List());
  Epoch highest;
  for (const std::string& name : names) {
    if (const auto epoch = ParseClaimName(name)) highest = std::max(highest, *epoch);
  }
  RATCHET_ASSIGN(auto claim, to.Create(ClaimName(highest.Next())));
  RATCHET_TRY(claim->Close());
  RATCHET_TRY(to.Sync());
  return highest.Next();
}

// Returns damage for which the operator has not decided anything.
std::vector<std::string> Undecided(const StoreContents& contents, const RepairOptions& options) {
  std::vector<std::string> undecided;
  const std::set<std::string> left_out(options.quarantine.begin(), options.quarantine.end());
  for (const StoreDamage& damage : contents.damage) {
    const bool disorder = damage.kind == DamageKind::kOrder;
    const bool decided = disorder ? options.reorder : options.on_damage != OnDamage::kStop;
    if (!decided && !left_out.contains(damage.file)) {
      undecided.push_back(damage.ToString() +
                          (disorder ? " (decide with --reorder)" : " (decide with --cut, --skip or --quarantine)"));
    }
  }
  return undecided;
}

Result<int> TryRepair(io::Directory& from, io::Directory& to, io::Directory& quarantine, const RepairOptions& options,
                      std::ostream& out, std::ostream& err) {
  ReadOptions read;
  // Everything is read, so that all open questions are reported at once.
  read.on_damage = options.on_damage == OnDamage::kCut ? OnDamage::kCut : OnDamage::kSkip;
  read.order = options.reorder ? RecordOrder::kAny : RecordOrder::kGaps;
  read.leave_out.insert(options.quarantine.begin(), options.quarantine.end());
  for (const std::string& name : options.quarantine) {
    RATCHET_ASSIGN(const bool there, from.Exists(name));
    if (!there) return Error(Code::kNotFound, "there is no " + name + " in " + from.path());
  }
  RATCHET_ASSIGN(const StoreContents first, ReadStore(from, read));
  const auto undecided = Undecided(first, options);
  if (!undecided.empty()) {
    for (const std::string& line : undecided) err << "undecided: " << line << "\n";
    err << "ratchet-wal: nothing was written\n";
    return static_cast<int>(kExitDamage);
  }
  const bool in_place = &from == &to;
  RATCHET_ASSIGN(const Epoch epoch, ClaimFor(from, to, in_place));
  read.below = in_place ? epoch : Epoch();
  RATCHET_ASSIGN(StoreContents contents, ReadStore(from, read));  // again, now that no other process writes
  contents.last_sequence = std::max(contents.last_sequence, options.least_sequence);
  std::set<std::string> aside(options.quarantine.begin(), options.quarantine.end());
  for (const StoreDamage& damage : contents.damage) aside.insert(damage.file);
  for (const std::string& name : aside) {
    RATCHET_ASSIGN(const bool there, from.Exists(name));
    if (!there) continue;
    RATCHET_ASSIGN(const std::string copy, QuarantineCopy(from, name, quarantine));
    out << "kept: a copy of " << name << " is " << copy << "\n";
  }
  for (const StoreDamage& damage : contents.damage) out << "dropped: " << damage.ToString() << "\n";
  RATCHET_TRY(WriteRepaired(to, epoch, contents, "ratchet-wal repair"));
  out << fmt::format("wrote {}/{}: {} procedures, {} system records, largest pid {}\n", to.path(),
                     SegmentName({epoch, 1}), contents.index.size(), contents.system.size(), contents.max_pid);
  if (!contents.damage.empty() || !aside.empty()) {
    out << "The dropped parts may have held newer records: procedures may be back at an earlier step, and "
           "deleted ones may "
           "be back.\nSteps are idempotent, so letting them run again is safe; look at 'ratchet procedures' after the "
           "start.\n";
  }
  return static_cast<int>(kExitOk);
}

}  // namespace

int Repair(io::Directory& from, io::Directory& to, io::Directory& quarantine, const RepairOptions& options,
           std::ostream& out, std::ostream& err) {
  const auto done = TryRepair(from, to, quarantine, options, out, err);
  if (done.ok()) return *done;
  err << "ratchet-wal: " << done.error().ToString() << "\n";
  return kExitDisk;
}

}  // namespace ratchet::procedure::tool
