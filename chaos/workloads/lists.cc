#include "chaos/workloads/lists.h"

#include <cstring>
#include <fstream>

#include <fmt/core.h>

#include "chaos/workloads/list_verifier.h"
#include "chaos/workloads/load.h"
#include "common/base/log.h"
#include "common/client/table.h"

namespace ratchet::chaos {
namespace {

constexpr std::size_t kWidth = 10;  // lists that a thread grows in parallel, one node per batch for each
// batches; then each list's first node is made to point to its last, which closes a cycle
constexpr std::uint64_t kWrap = 25;
constexpr Millis kBatchPause{20};

NodeKey RandomKey(Prng& prng) {
  NodeKey key;
  for (std::size_t i = 0; i < kNodeKeyBytes; i += sizeof(std::uint64_t)) {
    const std::uint64_t bits = prng.Next();
    std::memcpy(key.data() + i, &bits, sizeof bits);
  }
  return key;
}

// A growing list. All of its nodes are acknowledged.
struct GrowingList {
  std::optional<ListNode> first;
  NodeKey last{};
  std::uint64_t number = 0;
};

class Lists final : public Workload {
 public:
  explicit Lists(WorkloadContext context)
      : context_(std::move(context)), table_("default", context_.table_prefix + "_lists") {
    for (int i = 0; i < context_.threads; ++i) growing_.emplace_back(kWidth);
  }
  ~Lists() override { threads_.Stop(); }

  [[nodiscard]] std::string_view name() const override { return "lists"; }
  [[nodiscard]] Status Prepare() override {
    return MakeLoadTable(context_.connection, table_, EvenPrefixes(context_.regions, false));
  }
  void Start() override {
    threads_.Start("lists", context_.threads, context_.seed, [this](int thread, Prng& prng) { Step(thread, prng); });
  }
  void AskToStop() override { threads_.AskToStop(); }
  void Stop() override { threads_.Stop(); }
  [[nodiscard]] WorkloadCounters counters() const override { return tally_.Snapshot(); }

  [[nodiscard]] std::vector<Finding> Check() override {
    const ListAccount account = Account();
    ListVerifier verifier(account);
    client::Table table(context_.connection, table_, kCheckTimeout);
    auto scanner = table.Scan({});
    for (;;) {
      const auto row = scanner.Next();
      if (!row.ok()) return {{false, "the table of lists cannot be read: " + row.error().ToString()}};
      if (!*row) break;
      verifier.Add(**row);
    }
    counts_ = verifier.Finish();
    std::string text =
        fmt::format("lists: REFERENCED {}, UNREFERENCED {}, UNDEFINED {}, EXTRAREFERENCES {}, CORRUPT {}, lost ends {}",
                    counts_.referenced, counts_.unreferenced, counts_.undefined, counts_.extra_references,
                    counts_.corrupt, counts_.lost_tails);
    for (const auto& sample : counts_.samples) text += "\n  " + sample;
    return {{IsWhole(counts_), text},
            {AllAreThere(account, counts_) && account.acknowledged > 0,
             fmt::format("{} of {} acknowledged nodes exist; of {} with unknown outcome, {} exist",
                         counts_.acknowledged_present, account.acknowledged, account.unknown.size(),
                         counts_.unknown_present)}};
  }

  [[nodiscard]] Status WriteEvidence(const std::filesystem::path& folder) override {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::ofstream out(folder / "lists.txt");
    const ListAccount account = Account();
    out << fmt::format("acknowledged {}\n", account.acknowledged);
    for (const auto& key : account.unknown) out << "unknown " << KeyText(key) << '\n';
    for (const auto& key : account.tails) out << "end " << KeyText(key) << '\n';
    for (const auto& key : account.perhaps_tails) out << "perhaps-end " << KeyText(key) << '\n';
    for (const auto& sample : counts_.samples) out << sample << '\n';
    out.close();
    if (!out) return Error(Code::kIo, fmt::format("{}: cannot be written", (folder / "lists.txt").string()));
    return Ok();
  }

 private:
  void Step(int thread, Prng& prng) {
    auto& lists = growing_[static_cast<std::size_t>(thread)];
    Grow(thread, lists, prng);
    for (auto& list : lists) {
      if (list.number >= kWrap && !threads_.stopping()) Close(list);
    }
    threads_.Pause(kBatchPause);
  }

  // Adds one node to every list, in one batch.
  void Grow(int thread, std::vector<GrowingList>& lists, Prng& prng) {
    std::vector<ListNode> nodes;
    std::vector<client::Mutation> puts;
    for (const auto& list : lists) {
      ListNode node;
      node.key = RandomKey(prng);
      node.has_previous = list.first.has_value();
      node.previous = list.last;
      node.number = list.number;
      node.client = fmt::format("lists-{}", thread);
      puts.push_back(PutNode(node));
      nodes.push_back(std::move(node));
    }
    client::Table table(context_.connection, table_, kLoadTimeout);
    const auto statuses = table.MutateMany(puts);
    MutexLock lock(mutex_);
    for (std::size_t i = 0; i < lists.size(); ++i) {
      // A batch does not report its single attempts: after an error the node's outcome is unknown.
      tally_.Add(statuses[i].ok() ? OperationOutcome::kOk : OperationOutcome::kUnknown);
      if (!statuses[i].ok()) {
        RATCHET_LOG(kWarn, "lists: {}", statuses[i].error().ToString());
        unknown_.insert(nodes[i].key);
        continue;
      }
      ++acknowledged_;
      if (!lists[i].first) lists[i].first = nodes[i];
      lists[i].last = nodes[i].key;
      ++lists[i].number;
    }
  }

  void Close(GrowingList& list) {
    ListNode first = *list.first;
    first.has_previous = true;
    first.previous = list.last;
    client::Table table(context_.connection, table_, kLoadTimeout);
    const auto done = table.Mutate(PutNode(first));
    const OperationOutcome outcome = done.ok() ? OperationOutcome::kOk : OutcomeOf(done.error());
    tally_.Add(outcome);
    MutexLock lock(mutex_);
    if (outcome == OperationOutcome::kFailed) ends_.insert(list.last);
    if (outcome == OperationOutcome::kUnknown) perhaps_ends_.insert(list.last);
    list = {};
  }

  // Call after Stop.
  ListAccount Account() {
    MutexLock lock(mutex_);
    ListAccount account{acknowledged_, unknown_, ends_, perhaps_ends_};
    for (const auto& lists : growing_) {
      for (const auto& list : lists) {
        if (list.first) account.tails.insert(list.last);
      }
    }
    return account;
  }

  const WorkloadContext context_;
  const TableName table_;
  Tally tally_;
  std::vector<std::vector<GrowingList>> growing_;  // each thread's own
  ListCounts counts_;
  Mutex mutex_;
  std::uint64_t acknowledged_ GUARDED_BY(mutex_) = 0;
  std::set<NodeKey> unknown_ GUARDED_BY(mutex_);
  std::set<NodeKey> ends_ GUARDED_BY(mutex_);
  std::set<NodeKey> perhaps_ends_ GUARDED_BY(mutex_);
  LoadThreads threads_;
};

}  // namespace

std::unique_ptr<Workload> MakeLists(WorkloadContext context) { return std::make_unique<Lists>(std::move(context)); }

}  // namespace ratchet::chaos
