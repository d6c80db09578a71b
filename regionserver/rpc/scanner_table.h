// The scanners that clients have open, by id, each with a lease (docs/wire-compatibility.md).
//
// A scanner is used by one request at a time. Its lease runs while no request uses it; when it ends the scanner is
// closed and its id unknown. A scanner that the server closed itself, because the region had no more rows, stays known
// as finished for a while: clients may still call it or close it, and get an empty answer instead of an error.
//
// Scanners have a limit for each connection, for each user, and for the server. Above the limit of clients there is a
// reserve for scans of system tables, and above that a reserve for members of the cluster (S64: bounded memory over all
// connections). When the reserve for system tables is full, the connection with the most such scanners loses its oldest
// idle one. A scanner whose connection has ended stays for a short while, for a client that connects again; it is
// closed at once when its place is needed.
//
// Thread-safe. Leases end on the timers' thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
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

// BindLease and BindLimits are two functions, because --help lists other parts' settings in between.
struct ScannerTableOptions {
  Live<Millis> lease{Millis{60'000}};
  Live<std::int64_t> max_open{10'000};
  std::size_t max_finished = 10'000;     // ids remembered as finished; the oldest is forgotten first
  std::uint64_t max_bytes = 256u << 20;  // size of the columns and rows that clients named in all open scans
  // Limits of one connection and of one user; never more than half of max_open.
  Live<std::int64_t> max_of_connection{1'000};
  Live<std::int64_t> max_of_user{5'000};
  Millis keep_orphans{5'000};  // for scanners whose connection has ended
  // Called, without a lock, with the reason when a scanner was refused.
  std::function<void(const std::string& why)> refused{};

  template <class Settings>
  void BindLease(Settings& settings) {
    settings.AddMillis({"scanner-lease-ms",
                        "A scanner without a request for this long is closed.",
                        {"hbase.client.scanner.timeout.period"}},
                       &lease, Millis(100), Millis(3'600'000));
  }

  template <class Settings>
  void BindLimits(Settings& settings) {
    settings.AddInt({"max-scanners", "Maximum number of open scanners; more are refused as too busy.", {}}, &max_open,
                    {1, 1'000'000});
    settings.AddInt({"max-scanners-per-connection",
                     "Maximum number of open scanners of one connection; at most half of max-scanners.",
                     {}},
                    &max_of_connection, {1, 1'000'000});
    settings.AddInt(
        {"max-scanners-per-user", "Maximum number of open scanners of one user; at most half of max-scanners.", {}},
        &max_of_user, {1, 1'000'000});
  }
};

// The party whose limit a scanner counts for.
struct ScannerOwner {
  enum class Kind : std::uint8_t { kUserTable, kSystemTable, kMember };
  Kind kind = Kind::kUserTable;
  std::uint64_t connection = 0;  // 0: no connection, which has no limit
  std::string user{};
  std::string peer{};
};

class ScannerTable {
 public:
  // `id_base`: high bits of all ids, different for each run of the server, so that a client that returns after a
  // restart never reaches another client's scanner.
  ScannerTable(Clock& clock, Timers& timers, std::uint32_t id_base, ScannerTableOptions options);
  ~ScannerTable();
  ScannerTable(const ScannerTable&) = delete;
  ScannerTable& operator=(const ScannerTable&) = delete;

  [[nodiscard]] Millis lease() const;

  // One request's hold on a scanner. Its end restarts the lease.
  class Use {
   public:
    Use() = default;
    Use(Use&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)), id_(other.id_), session_(std::move(other.session_)) {}
    Use& operator=(Use&&) = delete;
    ~Use();
    [[nodiscard]] std::uint64_t id() const { return id_; }
    [[nodiscard]] ScanSession& session() const { return *session_; }
    // For a caller that keeps the session after this request.
    [[nodiscard]] const std::shared_ptr<ScanSession>& shared_session() const { return session_; }
    // Call when the region has no more rows: closes the scanner and remembers its id as finished.
    void Finish();
    // Call when the client closes the scanner, or it failed: its id becomes unknown.
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
  // `bytes`: memory that the names in its request take.
  [[nodiscard]] Result<Use> Add(std::shared_ptr<ScanSession> session, std::uint64_t bytes,
                                const ScannerOwner& owner = {});

  // kNotFound: unknown or its lease has ended. kFailedPrecondition: another request is using it. kAborted: finished.
  // `connection` is that of the call and becomes the scanner's; 0 leaves the scanner's connection unchanged.
  // `user`: if not null, a scanner of another user is unknown, S132 (scanners belong to their user).
  [[nodiscard]] Result<Use> Find(std::uint64_t id, std::uint64_t connection = 0, const std::string* user = nullptr);
  void ConnectionEnded(std::uint64_t connection);

  // Closes all scanners, at the end of the server.
  void CloseAll();
  [[nodiscard]] std::size_t open() const;
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ratchet::regionserver
