#include "chaos/faults/flip_bytes.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include "chaos/faults/piece_table.h"
#include "chaos/faults/victims.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFlipRows = 200;
constexpr Millis kAnswered{3'000};

Status Flip(const fs::path& file, std::uint64_t offset, int mask) {
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekg(static_cast<std::streamoff>(offset));
  const int byte = bytes.get();
  bytes.seekp(static_cast<std::streamoff>(offset));
  bytes.put(static_cast<char>(byte ^ mask));
  bytes.close();
  return bytes ? Ok() : Status(Error(Code::kIo, file.string() + " cannot be changed"));
}

class FlipBytes final : public Fault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "flip-bytes"; }
  [[nodiscard]] std::string_view Needs() const override { return kNeedsLocalRoot; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override { return WhyNoLocalRoot(target); }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    FaultRecord record;
    record.kind = kind();
    record.injected = SystemClock().Now();
    const Status done = Break(target, prng, record);
    if (done.ok()) return record;
    IgnoreResult(Heal(target), "the first error says more");
    return done.error().Annotate(kind());
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(500, 4'000)); }

  // A wrong answer is the finding.
  [[nodiscard]] Status Heal(Target& target) override {
    if (!std::exchange(flipped_, false)) return Ok();
    Look();  // once more while it is wrong
    RATCHET_TRY(Flip(file_, offset_, mask_));
    if (const std::string harm = std::exchange(harm_, ""); !harm.empty()) return Error(Code::kInternal, harm);
    for (const auto& name : target.Names(Role::kRegionServer)) {
      if (!target.Running(name)) RATCHET_TRY(target.Start(name));
    }
    RATCHET_TRY(target.AwaitRecovered(kServesWithin));
    RATCHET_ASSIGN(const std::size_t rows, table_->CountRows(kServesWithin));
    if (rows != table_->written()) {
      return Error(Code::kInternal, fmt::format("{} of {} rows exist after a bit of {} was flipped and restored", rows,
                                                table_->written(), file_.string()));
    }
    table_->Drop();
    table_.reset();
    return Ok();
  }

 private:
  Status Break(Target& target, Prng& prng, FaultRecord& record) {
    RATCHET_ASSIGN(table_, PieceTable::Make(target, prng.Next()));
    RATCHET_TRY(table_->WriteRows(kFlipRows));
    RATCHET_TRY(table_->Flush());
    RATCHET_ASSIGN(const fs::path folder, table_->Folder(target));
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
      if (entry->path().extension() == ".sst") file_ = entry->path();
    }
    if (failed || file_.empty()) return Error(Code::kIo, fmt::format("{} has no store file", folder.string()));
    const std::uint64_t size = fs::file_size(file_, failed);
    if (failed || size == 0) return Error(Code::kIo, fmt::format("{}: {}", file_.string(), failed.message()));
    offset_ = prng.Below(size);
    mask_ = 1 << prng.Below(8);
    RATCHET_ASSIGN(const std::string server, table_->Server(target));
    record.victims = {server};
    RATCHET_TRY(Flip(file_, offset_, mask_));
    flipped_ = true;
    // A server that has the blocks in memory notices nothing; another one that opens the region must.
    const bool reopened = prng.Chance(1, 2);
    if (reopened) RATCHET_TRY(target.Kill(server));
    Look();
    record.evidence = fmt::format("bit {:#04x} of byte {} of {} is flipped{}: {}", mask_, offset_,
                                  file_.filename().string(), reopened ? ", and its server is gone" : "", seen_);
    return Ok();
  }

  void Look() {
    const auto rows = table_->CountRows(kAnswered);
    if (!rows.ok() && table_->wrong().empty()) {
      seen_ = "reads are refused: " + rows.error().message();
    } else if (rows.ok() && *rows == table_->written()) {
      seen_ = "all rows are answered";
    } else {
      seen_ = harm_ = fmt::format("with a flipped bit in {} a scan returned {}", file_.string(),
                                  rows.ok() ? fmt::format("{} of {} rows", *rows, table_->written()) : table_->wrong());
    }
  }

  std::unique_ptr<PieceTable> table_;
  fs::path file_;
  std::uint64_t offset_ = 0;
  int mask_ = 0;
  bool flipped_ = false;
  std::string seen_;
  std::string harm_;
};

}  // namespace

std::unique_ptr<Fault> MakeFlipBytes() { return std::make_unique<FlipBytes>(); }

}  // namespace ratchet::chaos
