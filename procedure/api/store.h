// The interface of the store of procedures. One writer; the next claimer fences the previous owner (S7: seal before
// acting, to S9: claims are never removed).
//
// A batch is atomic: after a crash all of it is there or none. Batches become durable in the order of the Commit calls.
// WalStore keeps them in a log on shared storage, MemoryStore in memory for tests and simulation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/base/unique_function.h"

namespace ratchet::procedure {

// One procedure, complete; the store does not look into `bytes`.
struct ProcedureUpsert {
  ProcId pid;
  std::uint64_t version = 0;  // 1 for the first record of a pid, then always one more (S11: one commit per pid)
  std::string bytes;
};

struct SystemPut {
  std::string key;
  std::string value;
};

struct StoreBatch {
  std::vector<ProcedureUpsert> upserts;
  std::vector<ProcId> deletes;  // pids that are never used again after this batch
  std::vector<SystemPut> system_puts;
  std::vector<std::string> system_deletes;
  [[nodiscard]] bool empty() const {
    return upserts.empty() && deletes.empty() && system_puts.empty() && system_deletes.empty();
  }
};

struct LoadedState {
  Epoch epoch;                           // the epoch that was claimed
  std::vector<ProcedureUpsert> records;  // the newest record of each live pid, ordered by pid
  std::map<std::string, std::string> system_records;
  ProcId max_pid;  // the largest ever stored, deleted ones included
  std::uint64_t last_sequence = 0;
  std::vector<std::string> problems;  // events of interest to an operator (a torn tail was cut, ...); nothing was lost
};

struct StoreMetrics {
  std::uint64_t batches = 0;
  std::uint64_t records = 0;
  std::uint64_t syncs = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t rewritten_records = 0;  // stragglers
  std::uint64_t segments = 0;           // in use now
  std::uint64_t rolls = 0;
  std::uint64_t live_records = 0;
  std::uint64_t in_flight = 0;  // batches handed in and not completed
};

// The outcome of a commit. OK: durable, checked, with its sequence. kStale: a version did not follow, and no part of
// the batch was written. kFenced: another owner exists; this and all later commits fail, their outcome is unknown: stop
// acting. kAborted: the store was stopped first.
using CommitDone = UniqueFunction<void(Result<std::uint64_t> sequence)>;

class ProcedureStore {
 public:
  virtual ~ProcedureStore() = default;

  // Claims the next epoch, fences the previous owner, reads everything, and makes what it read durable as its own (S7,
  // S8: act only on durable records). Once per object, before anything else; blocks. kCorruption names the file, the
  // offset and what to do; nothing is lost then, and the caller must not act on the data. kFenced: another master
  // claimed later.
  virtual Result<LoadedState> Claim() = 0;

  // Hands in a batch; returns at once. `done` runs on the store's writer thread (or inside the call that drives the
  // store by hand), in the order of the Commit calls, after append, sync and CHECK, S1 (check after sync). It must be
  // short, and must not block on this store. Thread-safe. At most one commit of a pid may be in flight, S11.
  virtual void Commit(StoreBatch batch, CommitDone done) = 0;

  // Asks the store to call `ended` after the last `done` of each group of commits that became durable together, where
  // `done` runs, so that their consequences can be handled together. Returns false if the store completes them one by
  // one and never calls `ended`. Call before Claim.
  virtual bool AnnounceGroups(std::function<void()> /*ended*/) { return false; }

  // Commit for a thread that has nothing else to do: blocks, and returns what `done` would have received. Many threads
  // may wait at once, but never the store's own. Does not return when a sync failed, which ends the process.
  virtual Result<std::uint64_t> CommitAndWait(StoreBatch batch);

  // S2 (check is positive), S18 (check before each send): OK means that this owner was not deposed at some moment
  // during the call. Thread-safe, about two microseconds.
  virtual Status Check() = 0;

  // Returns a number above every one handed out or committed before, by this or an earlier process; for the order of
  // undo, S13 (durations and derived counts). The number counts as used once a batch that is handed in later is
  // durable. Thread-safe.
  virtual std::uint64_t NextSequence() = 0;

  // OK: new work may be admitted. kNoSpace: the disk is nearly full; work in progress continues in the reserve, S6
  // (failed sync ends the process). Thread-safe.
  virtual Status Admit() = 0;

  // Completes all commits handed in, then refuses new ones (kAborted). Idempotent.
  virtual void Stop() = 0;

  [[nodiscard]] virtual StoreMetrics metrics() const = 0;
};

}  // namespace ratchet::procedure
