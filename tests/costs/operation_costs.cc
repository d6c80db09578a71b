// operation_costs: the program that tests/costs/check measures. Not a test by itself.
//
// operation_costs counts               allocations, context switches, and bytes a region; one line each
// operation_costs instructions         does each operation between two calls of CostMark, for callgrind
// operation_costs system-calls         system calls of the operations that make any
// operation_costs run NAME ROUNDS      does one operation; the previous mode traces this one
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include <fmt/core.h>

#include "common/base/log.h"
#include "tests/costs/counted_memory.h"
#include "tests/costs/measured.h"
#include "tests/costs/syscall_counter.h"

// Callgrind begins a new count at each call (--dump-before).
extern "C" __attribute__((noinline)) void CostMark() { asm volatile("" ::: "memory"); }

namespace ratchet::costs {
namespace {

constexpr const char* kDirectory = "build/costs";
constexpr int kRounds = 5;
constexpr std::size_t kFewRounds = 1;
constexpr std::size_t kManyRounds = 5;
constexpr const char* kCalls[] = {"server.call_of_get", "server.call_of_put", "store.commit"};

std::uint64_t ContextSwitches() {
  rusage usage{};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_nvcsw) : 0;
}

// On one processor, and without preemption by threads that are woken, threads hand over in the same order in each run.
void KeepToOneProcessor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(std::max(::sched_getcpu(), 0)), &one);
  const sched_param none{};
  if (::sched_setaffinity(0, sizeof(one), &one) != 0 || ::sched_setscheduler(0, SCHED_BATCH, &none) != 0)
    fmt::print(stderr, "the threads run on several processors, so counts of context switches differ from run to run\n");
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Print(const std::string& operation, const char* what, double each) {
  fmt::print("{} {} {:.2f}\n", operation, what, each);
  std::fflush(stdout);
}

void PrintAllocations(const Operation& operation) {
  operation.run();  // fills what is kept for the next operations
  std::vector<double> counts;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t before = CountedMemory().allocations;
    operation.run();
    counts.push_back(static_cast<double>(CountedMemory().allocations - before) / static_cast<double>(operation.count));
  }
  Print(operation.name, "allocations", Median(std::move(counts)));
}

void PrintContextSwitches(const Operation& operation) {
  operation.run();
  std::vector<double> counts;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t before = ContextSwitches();
    operation.run();
    counts.push_back(static_cast<double>(ContextSwitches() - before) / static_cast<double>(operation.count));
  }
  Print(operation.name, "context_switches", Median(std::move(counts)));
}

std::string StoreDirectory() { return fmt::format("{}/store", kDirectory); }

int Counts() {
  for (const Operation& operation : RegionOperations()) PrintAllocations(operation);
  PrintAllocations(DurableStep());
  const Operation commit = StoreCommit(StoreDirectory());
  PrintAllocations(commit);
  PrintContextSwitches(commit);
  for (const Operation& operation : CallOperations()) {
    PrintAllocations(operation);
    // A put has 6 or 7: its answer may be written before or after the thread of the log sleeps again.
    if (operation.name != "server.call_of_put") PrintContextSwitches(operation);
  }
  Print("server.region", "bytes", static_cast<double>(ServerBytesARegion(fmt::format("{}/regions", kDirectory))));
  const MasterBytes master = MasterBytesARegion();
  Print("master.region", "bytes", static_cast<double>(master.region));
  Print("master.load_of_region", "bytes", static_cast<double>(master.load));
  return 0;
}

int Instructions() {
  std::vector<Operation> operations = RegionOperations();
  operations.push_back(DurableStep());
  for (const Operation& operation : operations) {
    operation.run();
    CostMark();
    operation.run();
    CostMark();
    fmt::print("{} {}\n", operation.name, operation.count);
  }
  return 0;
}

const Operation* Find(const std::vector<Operation>& operations, std::string_view name) {
  const auto found =
      std::find_if(operations.begin(), operations.end(), [&](const auto& each) { return each.name == name; });
  return found == operations.end() ? nullptr : &*found;
}

int Run(std::string_view name, std::size_t rounds) {
  std::vector<Operation> operations =
      name == "store.commit" ? std::vector<Operation>{StoreCommit(StoreDirectory())} : CallOperations();
  const Operation* const operation = Find(operations, name);
  if (operation == nullptr) return 2;
  for (std::size_t round = 0; round < rounds; ++round) operation->run();
  return 0;
}

int SystemCalls() {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  for (const char* name : kCalls) {
    const auto few = CountSystemCalls({program, "run", name, std::to_string(kFewRounds)});
    const auto many = CountSystemCalls({program, "run", name, std::to_string(kManyRounds)});
    if (!few.has_value() || !many.has_value()) {
      fmt::print("skipped: this process may not trace another one\n");
      return 77;
    }
    Print(name, "system_calls",
          static_cast<double>(*many - *few) / static_cast<double>((kManyRounds - kFewRounds) * kRound));
  }
  return 0;
}

}  // namespace
}  // namespace ratchet::costs

int main(int argc, char** argv) {
  using namespace ratchet;  // NOLINT(google-build-using-namespace)
  ConfigureLog({LogLevel::kError, {}});
  std::filesystem::create_directories(costs::kDirectory);
  costs::KeepToOneProcessor();
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "counts") return costs::Counts();
  if (mode == "instructions") return costs::Instructions();
  if (mode == "system-calls") return costs::SystemCalls();
  if (mode == "run" && argc == 4) return costs::Run(argv[2], std::stoul(argv[3]));
  fmt::print(stderr, "operation_costs: counts | instructions | system-calls | run NAME ROUNDS\n");
  return 2;
}
