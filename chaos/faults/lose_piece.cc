#include "chaos/faults/lose_piece.h"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "chaos/faults/cluster_client.h"
#include "chaos/faults/piece_table.h"
#include "chaos/faults/victims.h"
#include "common/base/exit_codes.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

constexpr Millis kRefusedWithin{30'000};
constexpr Millis kBriefly{1'500};  // for an answer that must not come
constexpr Millis kStaysWaiting{3'000};
constexpr std::size_t kLoseRows = 40;

Status Move(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::create_directories(to.parent_path(), failed);
  if (!failed) fs::rename(from, to, failed);
  if (!failed) return Ok();
  return Error(Code::kIo, fmt::format("{} to {}: {}", from.string(), to.string(), failed.message()));
}

Status CopyPiece(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::create_directories(to.parent_path(), failed);
  if (!failed) fs::copy(from, to, fs::copy_options::recursive, failed);
  if (!failed) return Ok();
  return Error(Code::kIo, fmt::format("{} to {}: {}", from.string(), to.string(), failed.message()));
}

class LosePiece final : public Fault {
 public:
  LosePiece() = default;
  LosePiece(std::string_view kind, std::size_t piece) : kind_(kind), always_(piece) {}

  [[nodiscard]] std::string_view kind() const override { return kind_; }
  [[nodiscard]] std::string_view Needs() const override { return kNeedsLocalRoot; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override { return WhyNoLocalRoot(target); }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    away_ = *target.Root() / "chaos-away";
    FaultRecord record;
    record.kind = kind();
    record.injected = SystemClock().Now();
    const Piece& piece = kPieces[always_.value_or(prng.Below(kPieces.size()))];
    const Status done = (this->*piece.lose)(target, prng, record);
    if (done.ok() || !harm_.empty()) {
      if (!harm_.empty()) record.evidence = harm_;
      return record;
    }
    IgnoreResult(Heal(target), "the first error says more");
    return done.error().Annotate(fmt::format("{}: {}", kind(), piece.name));
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& /*prng*/) override { return std::nullopt; }

  // A silent loss, or a start without the piece, is the finding.
  [[nodiscard]] Status Heal(Target& target) override {
    Status first = Ok();
    const auto keep = [&first](const Status& status) {
      if (!status.ok() && first.ok()) first = status;
    };
    keep(PutBack());
    for (const Role role : {Role::kMaster, Role::kRegionServer}) {
      for (const auto& name : target.Names(role)) {
        if (!target.Running(name)) keep(target.Start(name));
      }
    }
    if (table_ != nullptr) {
      if (first.ok()) keep(target.AwaitRecovered(kServesWithin));
      if (first.ok()) table_->Drop();
      table_.reset();
    }
    if (const std::string harm = std::exchange(harm_, ""); !harm.empty()) return Error(Code::kInternal, harm);
    return first;
  }

  // Returns nullopt if there is no piece of this name.
  static std::optional<std::size_t> Find(std::string_view name) {
    for (std::size_t i = 0; i < kPieces.size(); ++i) {
      if (kPieces[i].name == name) return i;
    }
    return std::nullopt;
  }
  static std::string Names() {
    std::string names;
    for (const Piece& piece : kPieces) names += fmt::format("{}{}", names.empty() ? "" : ", ", piece.name);
    return names;
  }

 private:
  using Lose = Status (LosePiece::*)(Target&, Prng&, FaultRecord&);
  struct Piece {
    std::string_view name;
    Lose lose;
  };
  static const std::array<Piece, 6> kPieces;

  Status Harm(std::string what) {
    harm_ = std::move(what);
    return Error(Code::kInternal, harm_);
  }

  // `piece` is away from here on, until PutBack.
  Status MoveAway(const fs::path& piece) {
    RATCHET_TRY(Move(piece, away_ / piece.filename()));
    piece_ = piece;
    return Ok();
  }
  Status PutBack() {
    if (piece_.empty()) return Ok();
    const fs::path piece = std::exchange(piece_, {});
    std::error_code failed;
    fs::remove_all(piece, failed);  // an older copy
    if (failed) return Error(Code::kIo, fmt::format("{}: {}", piece.string(), failed.message()));
    return Move(away_ / piece.filename(), piece);
  }

  static Status KillMasters(Target& target) {
    for (const auto& name : RunningOnes(target, Role::kMaster)) RATCHET_TRY(target.Kill(name));
    return Ok();
  }

  Status LoseProcedures(Target& target, Prng& prng, FaultRecord& record) {
    RATCHET_TRY(KillMasters(target));
    RATCHET_TRY(MoveAway(*target.Root() / "procedures"));
    return RefusesToStart(target, prng, record, "without procedures/");
  }

  Status LoseNewProcedures(Target& target, Prng& prng, FaultRecord& record) {
    const fs::path store = *target.Root() / "procedures";
    const fs::path older = away_ / "procedures.older";
    RATCHET_TRY(KillMasters(target));
    RATCHET_TRY(CopyPiece(store, older));
    for (const auto& name : target.Names(Role::kMaster)) RATCHET_TRY(target.Start(name));
    RATCHET_TRY(target.AwaitRecovered(kServesWithin));
    RATCHET_ASSIGN(table_, PieceTable::Make(target, prng.Next()));
    RATCHET_TRY(KillMasters(target));
    RATCHET_TRY(MoveAway(store));
    RATCHET_TRY(Move(older, store));
    return RefusesToStart(target, prng, record, "with an older copy of procedures/");
  }

  Status RefusesToStart(Target& target, Prng& prng, FaultRecord& record, const std::string& what) {
    const Victims masters = target.Names(Role::kMaster);
    const std::string name = masters[prng.Below(masters.size())];
    record.victims = {name};
    RATCHET_TRY(target.Start(name));
    target.Expect(name, exit_code::kWentBack);
    target.Expect(name, exit_code::kStoreDamaged);
    const Status ended = WaitUntil(name + " refuses to start", kRefusedWithin, [&] {
      target.Meanwhile();
      return !target.Running(name);
    });
    if (!ended.ok()) {
      const auto active = target.ActiveMaster();
      IgnoreResult(target.Kill(name), "nothing more may be done with the wrong store");
      return Harm(fmt::format("{} {} does not refuse to start{}", name, what,
                              active.ok() && *active == name ? ", and is the active master" : ""));
    }
    const int code = target.processes()->Info(name).exit_code.value_or(-1);
    if (code != exit_code::kWentBack && code != exit_code::kStoreDamaged) {
      return Error(Code::kUnavailable, fmt::format("{} {} ended with exit code {}", name, what, code));
    }
    record.evidence = fmt::format("{} {} refuses to start, exit code {}", name, what, code);
    return Ok();
  }

  // The server's death must stay unhandled while its logs are away.
  Status LoseLogs(Target& target, Prng& prng, FaultRecord& record) {
    RATCHET_ASSIGN(table_, PieceTable::Make(target, prng.Next()));
    RATCHET_TRY(table_->WriteRows(kLoseRows));
    RATCHET_ASSIGN(const std::string victim, table_->Server(target));
    const std::string server = target.processes()->Info(victim).serving_as;
    record.victims = {victim};
    RATCHET_TRY(target.Kill(victim));
    RATCHET_TRY(MoveAway(*target.Root() / "wals" / server));
    RATCHET_TRY(AwaitCrash(target, server, /*finished=*/false));
    const Status finished = AwaitCrash(target, server, /*finished=*/true);
    if (finished.ok()) return Harm(fmt::format("the crash of {} was handled without its logs", victim));
    RATCHET_TRY(PutBack());
    RATCHET_TRY(RowsAreThere(target, victim));
    record.evidence = fmt::format("the crash of {} ({}) waited while its logs were away; {} rows are there", victim,
                                  server, table_->written());
    return Ok();
  }

  // Waits until the crash of `server` is unfinished, or no longer.
  static Status AwaitCrash(Target& target, const std::string& server, bool finished) {
    RATCHET_ASSIGN(const auto client, ClusterClient::Open(target));
    const Millis patience = kStaysWaiting + target.session_timeout() * 3;
    return WaitUntil("the crash of " + server, patience, [&] {
      const auto crash = client->CrashOf(server);
      return crash.ok() && crash->has_value() != finished;
    });
  }

  Status RowsAreThere(Target& target, const std::string& victim) {
    if (!target.Running(victim)) RATCHET_TRY(target.Start(victim));
    RATCHET_TRY(target.AwaitRecovered(kServesWithin));
    RATCHET_ASSIGN(const std::size_t rows, table_->CountRows(kServesWithin));
    if (rows == table_->written()) return Ok();
    return Harm(fmt::format("{} of {} acknowledged rows are there after a piece was away", rows, table_->written()));
  }

  Status LoseRegion(Target& target, Prng& prng, FaultRecord& record) {
    return LoseRegionOf(target, prng, record, /*older=*/false);
  }
  Status LoseNewRegion(Target& target, Prng& prng, FaultRecord& record) {
    return LoseRegionOf(target, prng, record, /*older=*/true);
  }

  // While the directory is away, or older, the region must not answer that rows are missing.
  Status LoseRegionOf(Target& target, Prng& prng, FaultRecord& record, bool older) {
    RATCHET_ASSIGN(table_, PieceTable::Make(target, prng.Next()));
    RATCHET_TRY(table_->WriteRows(kLoseRows));
    RATCHET_ASSIGN(const fs::path folder, table_->Folder(target));
    const fs::path copy = away_ / (folder.filename().string() + ".older");
    if (older) {
      RATCHET_TRY(table_->Flush());
      RATCHET_TRY(CopyPiece(folder, copy));
      RATCHET_TRY(table_->WriteRows(kLoseRows));
      RATCHET_TRY(table_->Flush());
      AwaitReports(target);
    }
    RATCHET_ASSIGN(const std::string victim, table_->Server(target));
    record.victims = {victim};
    RATCHET_TRY(target.Kill(victim));
    RATCHET_TRY(MoveAway(folder));
    if (older) RATCHET_TRY(Move(copy, folder));
    const char* const what = older ? "an older copy" : "away";
    const TimePoint until = SystemClock().Now() + target.session_timeout() * 2 + kStaysWaiting;
    bool served = false;
    while (SystemClock().Now() < until && !served) {
      target.Meanwhile();
      const auto rows = table_->CountRows(kBriefly);
      if (rows.ok() && *rows != table_->written()) {
        return Harm(fmt::format("a region whose directory is {} serves {} of {} acknowledged rows", what, *rows,
                                table_->written()));
      }
      served = rows.ok();
    }
    // The log had what the copy lacked: the copy is the region now.
    if (served) piece_.clear();
    RATCHET_TRY(PutBack());
    RATCHET_TRY(RowsAreThere(target, victim));
    record.evidence = fmt::format("the directory of a region of {} was {} and {}: {} rows are there", victim, what,
                                  served ? "took the rest from the log" : "came back", table_->written());
    return Ok();
  }

  // The server reports to the master what is flushed, and its log may go.
  static void AwaitReports(Target& target) {
    const TimePoint until = SystemClock().Now() + kStaysWaiting;
    for (int round = 0; SystemClock().Now() < until; ++round) {
      target.Meanwhile();
      PollPause(round);
    }
  }

  // S120 (unserved region is reported): the server reports the region and ends, so that the region opens elsewhere.
  Status LoseMark(Target& target, Prng& prng, FaultRecord& record) {
    RATCHET_ASSIGN(table_, PieceTable::Make(target, prng.Next()));
    RATCHET_TRY(table_->WriteRows(kLoseRows));
    RATCHET_ASSIGN(const fs::path folder, table_->Folder(target));
    RATCHET_ASSIGN(const std::string victim, table_->Server(target));
    record.victims = {victim};
    std::error_code failed;
    std::string mark;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
      if (entry->path().filename().string().starts_with("serving.")) mark = entry->path().filename().string();
    }
    if (failed || mark.empty()) return Error(Code::kIo, fmt::format("{} has no mark", folder.string()));
    fs::remove(folder / mark, failed);
    const std::uint32_t before = target.CameAgain(victim);
    RATCHET_TRY(WaitUntil(victim + " ends without the mark of its region", kRefusedWithin, [&] {
      IgnoreResult(table_->CountRows(kBriefly), "a request meets the missing mark");
      return !target.Running(victim) || target.CameAgain(victim) > before;
    }));
    const int code = target.processes()->Info(victim).exit_code.value_or(-1);
    RATCHET_TRY(RowsAreThere(target, victim));
    record.evidence = fmt::format("{} ended (exit code {}) without {} of a region; {} rows are there", victim, code,
                                  mark, table_->written());
    return Ok();
  }

  const std::string kind_ = "lose-piece";
  const std::optional<std::size_t> always_;
  fs::path away_;
  fs::path piece_;  // what is away; empty: nothing
  std::unique_ptr<PieceTable> table_;
  std::string harm_;
};

const std::array<LosePiece::Piece, 6> LosePiece::kPieces{{
    {"procedures-away", &LosePiece::LoseProcedures},
    {"procedures-older", &LosePiece::LoseNewProcedures},
    {"logs-away", &LosePiece::LoseLogs},
    {"region-away", &LosePiece::LoseRegion},
    {"region-older", &LosePiece::LoseNewRegion},
    {"mark-away", &LosePiece::LoseMark},
}};

}  // namespace

std::unique_ptr<Fault> MakeLosePiece() { return std::make_unique<LosePiece>(); }

Result<std::unique_ptr<Fault>> MakeLostPiece(std::string_view kind) {
  const auto piece = LosePiece::Find(kind.substr(kind.find(':') + 1));
  if (piece) return std::unique_ptr<Fault>(std::make_unique<LosePiece>(kind, *piece));
  return Error(Code::kInvalidArgument, fmt::format("no piece '{}'; there are: {}", kind, LosePiece::Names()));
}

}  // namespace ratchet::chaos
