// A fixed life of a store that includes every kind of operation: commits, deletes, system records, rolls, rewritten
// stragglers, removed segments, a claim by a second process. Used by the sweeps that kill it anywhere.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/store/store_harness.h"

namespace ratchet::procedure {

struct ScenarioEnd {
  std::vector<StoreState> states;  // [n]: after the first n batches
  std::size_t acknowledged = 0;    // number of batches completed with OK
  std::size_t submitted = 0;       // number of batches handed in
  std::string wrong;               // a violation that was seen while the scenario ran; empty: none
};

inline std::vector<StoreBatch> ScenarioBatches() {
  std::vector<StoreBatch> batches;
  batches.push_back(Put(1, 1, "straggler"));
  batches.push_back(PutSystem("meta", "rs1"));
  batches.push_back(PutSystem("gone", "soon"));
  for (std::uint64_t i = 0; i < 24; ++i) {
    StoreBatch batch = Put(10 + i, 1, std::string(90, static_cast<char>('a' + i)));
    if (i >= 2) batch.deletes.push_back(ProcId(10 + i - 2));
    if (i == 5) batch.upserts.push_back({ProcId(2), 1, "a second straggler"});
    if (i == 9) batch.system_deletes.push_back("gone");
    if (i == 15) batch.deletes.push_back(ProcId(2));
    if (i == 18) batch.upserts.push_back({ProcId(1), 2, "moved at last"});
    batches.push_back(std::move(batch));
  }
  return batches;
}

inline WalStoreOptions ScenarioOptions() {
  WalStoreOptions options = SmallOptions();
  options.segment_bytes = 700;
  options.max_segments = 2;
  return options;
}

// Runs it on `disk`; `hook` sees the operations of both processes, numbered through.
inline ScenarioEnd RunScenario(io::SimDisk& disk, const io::SimHook& hook,
                               const WalStoreOptions& options = ScenarioOptions()) {
  ScenarioEnd end;
  end.states.emplace_back();
  const auto batches = ScenarioBatches();
  std::uint64_t operations = 0;
  bool kill_before_sync = false;  // declared before the processes whose hooks use it
  bool killed = false;
  for (const std::size_t stop : {batches.size() / 2 + 2, batches.size()}) {
    StoreProcess master(disk, options);
    killed = false;
    master.process->SetHook([&](const io::SimEvent& event) {
      if (kill_before_sync && event.op == io::SimOp::kSyncFile) {
        killed = true;
        return io::SimVerdict::CrashBefore();
      }
      io::SimEvent numbered = event;
      if (io::Changes(event.op)) numbered.number = ++operations;
      return hook ? hook(numbered) : io::SimVerdict::Proceed();
    });
    const auto loaded = master.Claim();
    if (!loaded.ok()) {
      if (!master.process->crashed()) end.wrong = "claim failed: " + loaded.error().ToString();
      return end;
    }
    if (StateOf(*loaded) != end.states.back()) {
      end.wrong = "a claim loaded something else than what was committed";
      return end;
    }
    end.acknowledged = end.submitted;  // the claimer acts on what was loaded
    while (end.submitted < stop) {
      // The first process is killed between write and sync: its last batch is in the page cache only.
      if (stop < batches.size() && end.submitted + 1 == stop) kill_before_sync = true;
      StoreBatch batch = batches[end.submitted];
      end.states.push_back(end.states.back());
      end.states.back().Apply(batch);
      ++end.submitted;
      const auto done = master.CommitNow(std::move(batch));
      if (killed) break;
      if (!done || !done->ok()) return end;
      ++end.acknowledged;
      master.StepAll();
    }
    kill_before_sync = false;
  }
  return end;
}

// Claims after the crash and returns the error in the result; empty: none. `loaded` gets the content.
inline std::string CheckRecovery(io::SimDisk& disk, const ScenarioEnd& end, StoreState* found) {
  StoreProcess next(disk, ScenarioOptions());
  const auto loaded = next.Claim();
  if (!loaded.ok()) return "claim failed: " + loaded.error().ToString();
  *found = StateOf(*loaded);
  for (std::size_t n = end.acknowledged; n <= end.submitted; ++n) {
    if (end.states[n] == *found) return "";
  }
  std::ostringstream text;
  text << "acknowledged " << end.acknowledged << " of " << end.submitted << ", expected ";
  PrintTo(end.states[end.acknowledged], &text);
  text << " found ";
  PrintTo(*found, &text);
  return text.str();
}

// The whole check: recover, act on it, lose power again: a later owner must see the same content and the additions.
inline std::string CheckTwice(io::SimDisk& disk, const ScenarioEnd& end) {
  if (!end.wrong.empty()) return end.wrong;
  StoreState expected;
  std::string wrong = CheckRecovery(disk, end, &expected);
  if (!wrong.empty()) return wrong;
  disk.PowerFailure();
  {
    StoreProcess second(disk, ScenarioOptions());
    const auto loaded = second.Claim();
    if (!loaded.ok()) return "second claim failed: " + loaded.error().ToString();
    if (StateOf(*loaded) != expected) return "the second owner saw something else than the first, who acted on it";
    StoreBatch more = Put(1000, 1, "more");
    expected.Apply(more);
    const auto done = second.CommitNow(std::move(more));
    if (!done || !done->ok()) return "the second owner cannot commit";
  }
  disk.PowerFailure();
  StoreProcess third(disk, ScenarioOptions());
  const auto loaded = third.Claim();
  if (!loaded.ok()) return "third claim failed: " + loaded.error().ToString();
  return StateOf(*loaded) == expected ? "" : "the third owner saw something else";
}

}  // namespace ratchet::procedure
