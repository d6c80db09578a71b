// The scanners that clients have open, by id, each with a lease (docs/wire-compatibility.md).
//
// A scanner is used by one request at a time. Its lease runs while no request uses it; when it ends the scanner is
// closed and its id unknown. A scanner that the server closed itself, because the region had nothing more, stays known
// as finished for a while: clients may still ask for more or close it, and are answered with nothing instead of an
// error.
//
// Thread-safe. Leases end on the timers' thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace ratchet::regionserver {

class ScanSession;

struct ScannerTableOptions {
  Live<Millis> lease{Millis{60'000}};
  Live<std::int64_t> max_open{10'000};
  std::size_t max_finished = 10'000;     // ids remembered as finished; the oldest is forgotten first
  std::uint64_t max_bytes = 256u << 20;  // of what clients named in all open scans
};

class ScannerTable {
 public:
  // `id_base`: high bits of all ids, different for each run of the server, so that a client that comes back after a
  // restart never reaches another's scanner.
  ScannerTable(Clock& clock, Timers& timers, std::uint32_t id_base, ScannerTableOptions options);
  ~ScannerTable();
  ScannerTable(const ScannerTable&) = delete;
  ScannerTable& operator=(const ScannerTable&) = delete;

  [[nodiscard]] Millis lease() const;

  // One request's hold on a scanner. Its end starts the lease anew.
  class Use {
   public:
    Use() = default;
    Use(Use&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)), id_(other.id_), session_(std::move(other.session_)) {}
    Use& operator=(Use&&) = delete;
    ~Use();
    [[nodiscard]] std::uint64_t id() const { return id_; }
    [[nodiscard]] ScanSession& session() const { return *session_; }
    // For one that goes on with it after this request.
    [[nodiscard]] const std::shared_ptr<ScanSession>& shared_session() const { return session_; }
    // The region has nothing more: the scanner is closed and its id remembered as finished.
    void Finish();
    // The client wants it gone, or it has failed: its id becomes unknown.
    void Close();

   private:
    friend class ScannerTable;
    Use(ScannerTable* table, std::uint64_t id, std::shared_ptr<ScanSession> session)
        : table_(table), id_(id), session_(std::move(session)) {}
    ScannerTable* table_ = nullptr;
    std::uint64_t id_ = 0;
    std::shared_ptr<ScanSession> session_;
  };

  // Opens a scanner, in use by the caller. kResourceExhausted when too many are open, or they hold too much.
  // `bytes`: what it holds of its client's words.
  [[nodiscard]] Result<Use> Add(std::shared_ptr<ScanSession> session, std::uint64_t bytes);

  // kNotFound: unknown or its lease has ended. kFailedPrecondition: another request is using it. kAborted: finished.
  [[nodiscard]] Result<Use> Find(std::uint64_t id);

  // Closes everything, at the end of the server.
  void CloseAll();
  [[nodiscard]] std::size_t open() const;
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ratchet::regionserver
