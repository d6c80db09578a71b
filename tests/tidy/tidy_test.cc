// The house rules as a test: layers, file length, banned calls, fault points. Run from the root of the project.
#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "tests/tidy/source_tree.h"

namespace ratchet::tidy {
namespace {

bool StartsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

// Folders that each folder may include, in addition to itself. The longest matching prefix applies.
const std::map<std::string, std::vector<std::string>>& Layers() {
  static const std::map<std::string, std::vector<std::string>> layers = {
      {"common/base/", {}},
      {"common/model/", {"common/base/"}},
      {"common/rights/", {"common/base/", "common/model/"}},
      {"common/io/", {"common/base/"}},
      {"common/metrics/", {"common/base/"}},
      {"common/http/", {"common/base/", "common/io/", "common/tls/"}},
      {"common/tls/", {"common/base/"}},
      {"common/rpc/", {"common/base/", "common/model/", "common/rights/", "common/io/", "common/tls/"}},
      {"common/audit/", {"common/base/", "common/io/", "common/rpc/"}},
      {"common/kerberos/", {"common/base/", "common/rpc/"}},
      {"common/identity/", {"common/base/", "common/model/", "common/rights/", "common/tls/", "common/rpc/"}},
      {"common/zk/", {"common/base/", "common/model/", "common/io/", "common/rpc/"}},
      {"common/client/", {"common/base/", "common/model/", "common/io/", "common/tls/", "common/rpc/", "common/zk/"}},
      {"common/ops/trace/", {"common/base/", "common/model/"}},
      {"common/ops/sql/", {"common/base/"}},
      {"common/ops/page/",
       {"common/base/", "common/model/", "common/rights/", "common/io/", "common/tls/", "common/rpc/", "common/audit/",
        "common/identity/", "common/zk/", "common/http/", "common/metrics/"}},
      {"common/ops/api/", {"common/"}},
      {"common/ops/process/",
       {"common/base/", "common/rights/", "common/tls/", "common/rpc/", "common/audit/", "common/identity/",
        "common/kerberos/", "common/ops/page/"}},
      {"common/tools/cli/",
       {"common/base/", "common/model/", "common/rights/", "common/io/", "common/tls/", "common/rpc/", "common/audit/",
        "common/identity/", "common/zk/", "common/client/", "common/ops/trace/", "common/ops/sql/"}},
      {"common/tools/frames/", {"common/base/", "common/rpc/"}},
      {"common/tools/storage_check/", {"common/base/", "common/io/"}},
      {"procedure/api/", {"common/base/", "common/io/"}},
      {"procedure/store/", {"common/base/", "common/io/", "procedure/api/"}},
      {"procedure/store/tool/",
       {"common/base/", "common/io/", "common/ops/sql/", "procedure/api/", "procedure/store/"}},
      {"procedure/core/", {"common/base/", "procedure/api/"}},
      {"procedure/engine/", {"common/base/", "common/io/", "procedure/api/", "procedure/core/", "procedure/store/"}},
      {"procedure/ops/", {"common/", "procedure/api/"}},
      {"procedure/ops/why/", {"common/base/", "common/model/", "procedure/api/"}},
      {"master/env/", {"common/base/", "common/model/"}},
      {"master/cluster/", {"common/base/", "common/model/", "common/rights/", "procedure/api/", "master/env/"}},
      {"master/policy/", {"common/base/", "common/model/", "master/cluster/"}},
      {"master/telemetry/", {"common/base/", "common/model/", "common/rpc/", "master/cluster/"}},
      {"master/procedures/",
       {"common/base/", "common/model/", "common/rights/", "procedure/api/", "master/env/", "master/cluster/",
        "master/policy/"}},
      {"master/requests/",
       {"common/base/", "common/model/", "common/rights/", "procedure/api/", "master/env/", "master/cluster/",
        "master/policy/", "master/procedures/"}},
      {"master/repair/",
       {"common/base/", "common/model/", "procedure/api/", "master/env/", "master/cluster/", "master/policy/",
        "master/procedures/", "master/requests/"}},
      {"master/chores/",
       {"common/base/", "common/model/", "common/rights/", "procedure/api/", "master/env/", "master/cluster/",
        "master/policy/", "master/procedures/", "master/requests/", "master/repair/", "master/telemetry/"}},
      {"master/startup/",
       {"common/base/", "common/model/", "procedure/api/", "master/env/", "master/cluster/", "master/policy/",
        "master/procedures/", "master/requests/", "master/repair/", "master/telemetry/", "master/chores/"}},
      {"master/storage/", {"common/base/", "common/io/", "common/model/", "master/env/"}},
      {"master/meta/", {"common/base/", "common/model/", "common/rpc/", "master/env/"}},
      {"master/dispatch/", {"common/base/", "common/model/", "common/rpc/", "master/env/"}},
      {"master/why/", {"common/base/", "common/model/", "procedure/api/", "procedure/ops/why/"}},
      {"master/history/", {"common/base/", "common/io/", "common/model/"}},
      {"master/rpc/",
       {"common/base/", "common/identity/", "common/model/", "common/rights/", "common/rpc/", "procedure/api/",
        "procedure/ops/", "master/cluster/", "master/policy/", "master/telemetry/", "master/procedures/",
        "master/requests/", "master/repair/", "master/chores/", "master/startup/", "master/dispatch/",
        "master/history/", "master/why/"}},
      {"master/page/", {"common/", "procedure/", "master/"}},
      {"master/process/", {"common/", "procedure/", "master/"}},
      {"regionserver/wal/", {"common/base/", "common/io/", "common/model/"}},
      {"regionserver/filter/", {"common/base/", "common/model/"}},
      {"regionserver/store/",
       {"common/base/", "common/io/", "common/model/", "regionserver/wal/", "regionserver/filter/"}},
      {"regionserver/region/",
       {"common/base/", "common/io/", "common/model/", "common/rpc/", "regionserver/wal/", "regionserver/filter/",
        "regionserver/store/"}},
      {"regionserver/orders/", {"common/base/", "common/model/", "common/rights/", "common/rpc/"}},
      {"regionserver/rpc/",
       {"common/base/", "common/model/", "common/rights/", "common/rpc/", "regionserver/filter/",
        "regionserver/region/", "regionserver/orders/"}},
      {"regionserver/replication/",
       {"common/base/", "common/io/", "common/model/", "common/rpc/", "common/client/", "regionserver/wal/"}},
      {"regionserver/host/",
       {"common/base/", "common/io/", "common/model/", "common/rpc/", "regionserver/wal/", "regionserver/store/",
        "regionserver/region/", "regionserver/orders/", "regionserver/rpc/"}},
      {"regionserver/process/", {"common/", "regionserver/"}},
      {"chaos/", {"common/", "procedure/", "master/", "regionserver/"}},
      {"docs/", {"common/base/", "common/io/", "procedure/"}},  // the example shows external code
      {"tests/", {"common/", "procedure/", "master/", "regionserver/", "chaos/"}},
  };
  return layers;
}

const std::string* LayerOf(const std::string& path) {
  const std::string* best = nullptr;
  for (const auto& [layer, allowed] : Layers()) {
    if (StartsWith(path, layer) && (best == nullptr || layer.size() > best->size())) best = &layer;
  }
  return best;
}

TEST(Tidy, SourcesAreFound) { EXPECT_GT(ReadSourceTree().size(), 30U) << "run from the root of the project"; }

TEST(Tidy, IncludesFollowTheLayers) {
  for (const auto& file : ReadSourceTree()) {
    const std::string* layer = LayerOf(file.path);
    ASSERT_NE(layer, nullptr) << file.path << " lies in no known layer";
    const auto& allowed = Layers().at(*layer);
    for (const auto& include : QuotedIncludes(file)) {
      // The example folder is copied as a whole.
      const bool beside = *layer == "docs/" && include.find('/') == std::string::npos;
      const bool fine =
          beside || StartsWith(include, *layer) ||
          std::any_of(allowed.begin(), allowed.end(), [&](const auto& prefix) { return StartsWith(include, prefix); });
      EXPECT_TRUE(fine) << file.path << " may not include " << include;
    }
  }
}

// The headers that packages install. Everything else of procedure/ may change without the rest of the tree.
TEST(Tidy, OtherFoldersIncludeOnlyTheApiOfProcedure) {
  std::size_t found = 0;
  for (const auto& file : ReadSourceTree()) {
    const bool inside = StartsWith(file.path, "procedure/") && !StartsWith(file.path, "procedure/ops/");
    if (inside || StartsWith(file.path, "tests/")) continue;
    for (const auto& include : QuotedIncludes(file)) {
      if (!StartsWith(include, "procedure/")) continue;
      ++found;
      EXPECT_TRUE(StartsWith(include, "procedure/api/") || StartsWith(include, "procedure/ops/"))
          << file.path << " may not include " << include << "; procedure/api is the interface";
    }
  }
  EXPECT_GT(found, 100U);
}

// One owner of the durable state: elsewhere a new field would be forgotten in one of the changes.
TEST(Tidy, OnlyTransitionChangesTheDurableState) {
  static const std::regex change(
      R"(MoveTo\(|\b(durable|next|first)\.(state|step|data|locks|undo|error|result|version|updated_ms|past_no_return|)"
      R"(parked|bypassed|verbs|spawn_round|resumed_round|children)( \+?=[^=]|\.(clear|push_back|pop_back|reset)\())");
  std::size_t found = 0;
  for (const auto& file : ReadSourceTree()) {
    const bool engine = StartsWith(file.path, "procedure/core/") || StartsWith(file.path, "procedure/engine/");
    if (!engine || StartsWith(file.path, "procedure/core/record.")) continue;  // which decodes
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      if (!std::regex_search(CodeOf(file.lines[i]), change)) continue;
      ++found;
      EXPECT_EQ(file.path, "procedure/core/transition.cc") << file.path << ":" << i + 1;
    }
  }
  EXPECT_GT(found, 10U);
}

// Returns the headers that `wanted` selects, and all that they include, directly or not.
std::set<std::string> WithIncluded(const std::function<bool(const std::string& path)>& wanted) {
  std::map<std::string, std::vector<std::string>> includes;
  std::vector<std::string> left;
  for (const auto& file : ReadSourceTree()) {
    includes[file.path] = QuotedIncludes(file);
    if (file.path.ends_with(".h") && wanted(file.path)) left.push_back(file.path);
  }
  std::set<std::string> needed;
  while (!left.empty()) {
    const std::string header = left.back();
    left.pop_back();
    if (!needed.insert(header).second || header.ends_with(".pb.h")) continue;
    const auto& more = includes.at(header);
    left.insert(left.end(), more.begin(), more.end());
  }
  return needed;
}

// The words of a list in the export's CMake file.
std::set<std::string> ExportedList(const std::string& name) {
  std::ifstream file("scripts/cmake/RatchetExport.cmake");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string set = "set(" + name;
  const auto begin = text.find(set) + set.size();
  std::istringstream list(text.substr(begin, text.find(')', begin) - begin));
  return {std::istream_iterator<std::string>(list), {}};
}

TEST(Tidy, PackageHasTheHeadersThatItsOwnHeadersInclude) {
  const auto is_api = [](const std::string& path) { return StartsWith(path, "procedure/api/"); };
  std::set<std::string> of_api = WithIncluded(is_api);
  std::erase_if(of_api, is_api);
  EXPECT_EQ(ExportedList("ratchet_api_headers"), of_api);
  std::set<std::string> of_host = WithIncluded([](const auto& path) { return path == "procedure/ops/endpoint.h"; });
  std::erase_if(of_host, [&](const auto& header) { return is_api(header) || of_api.contains(header); });
  EXPECT_EQ(ExportedList("ratchet_host_headers"), of_host);
}

// A header and its source are one unit, named by its path without the ending.
std::string UnitOf(const std::string& path) { return path.substr(0, path.rfind('.')); }

// Returns the units that each unit of the product includes.
std::map<std::string, std::set<std::string>> Units() {
  std::map<std::string, std::set<std::string>> units;
  for (const auto& file : ReadSourceTree()) {
    if (StartsWith(file.path, "tests/") || file.path.ends_with(".proto")) continue;
    auto& included = units[UnitOf(file.path)];
    for (const auto& include : QuotedIncludes(file)) {
      const std::string other = UnitOf(include);
      if (other != UnitOf(file.path) && !include.ends_with(".pb.h")) included.insert(other);
    }
  }
  return units;
}

// Repeatedly removes units without includes of remaining units. The rest is in a cycle, or includes one.
std::set<std::string> LeftInCycles(std::map<std::string, std::set<std::string>> units) {
  for (bool found = true; found;) {
    found = false;
    for (auto unit = units.begin(); unit != units.end();) {
      const bool leaf = std::none_of(unit->second.begin(), unit->second.end(),
                                     [&](const auto& name) { return units.contains(name); });
      unit = leaf ? units.erase(unit) : std::next(unit);
      found |= leaf;
    }
  }
  std::set<std::string> names;
  for (const auto& [name, included] : units) names.insert(name);
  return names;
}

TEST(Tidy, ACycleOfUnitsIsFound) {
  EXPECT_TRUE(LeftInCycles({{"a", {"b"}}, {"b", {"c"}}, {"c", {}}}).empty());
  EXPECT_EQ(LeftInCycles({{"a", {"b"}}, {"b", {"c"}}, {"c", {"b"}}, {"d", {}}}),
            (std::set<std::string>{"a", "b", "c"}));
}

// The folders of the cluster's programs include each other in one direction, too.
TEST(Tidy, FoldersFormNoCycle) {
  const auto folder_of = [](const std::string& path) { return path.substr(0, path.rfind('/')); };
  std::map<std::string, std::set<std::string>> folders;
  for (const SourceFile& file : ReadSourceTree()) {
    const bool server = !StartsWith(file.path, "tests/") && !StartsWith(file.path, "chaos/");
    if (!server || file.path.ends_with(".proto")) continue;
    auto& included = folders[folder_of(file.path)];
    for (const std::string& include : QuotedIncludes(file))
      if (folder_of(include) != folder_of(file.path) && !include.ends_with(".pb.h"))
        included.insert(folder_of(include));
  }
  ASSERT_GT(folders.size(), 50U);
  for (const auto& folder : LeftInCycles(folders))
    ADD_FAILURE() << folder << " includes itself through others, or what does";
}

TEST(Tidy, UnitsFormNoCycle) {
  const auto units = Units();
  ASSERT_GT(units.size(), 500U);
  for (const auto& unit : LeftInCycles(units)) ADD_FAILURE() << unit << " includes itself through others, or what does";
}

TEST(Tidy, FilesStayShort) {
  constexpr std::size_t kMaxLines = 700;
  for (const auto& file : ReadSourceTree()) {
    EXPECT_LE(file.lines.size(), kMaxLines) << file.path << ": is it still one class or one idea?";
  }
}

// 120 columns; slightly more for tables with one entry per line, which no tool breaks.
TEST(Tidy, LinesStayShort) {
  for (const auto& file : ReadSourceTree()) {
    const std::size_t most = file.path.ends_with(".def") || file.path.ends_with(".proto") ? 140 : 120;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_LE(file.lines[i].size(), most) << file.path << ":" << i + 1;
    }
  }
}

struct Banned {
  std::string call;
  std::string instead;
  std::vector<std::string> allowed_in;
};

TEST(Tidy, NoBannedCalls) {
  const std::vector<Banned> banned = {
      {"std::mutex", "ratchet::Mutex (common/base/mutex.h)", {"common/base/mutex.h"}},
      {"std::shared_mutex", "ratchet::SharedMutex", {"common/base/mutex.h"}},
      {"std::condition_variable", "ratchet::CondVar", {"common/base/mutex.h"}},
      {"system_clock::now", "Clock::WallMillis", {"common/base/"}},
      {"std::random_device", "Prng with RandomSeed()", {}},
      {"std::mt19937", "Prng", {}},
      {" rand()", "Prng", {}},
      {".detach()", "an owner that joins", {"common/base/name_resolver.cc"}},  // a name lookup cannot be interrupted
      {"usleep(", "a condition with a deadline", {"tests/unit/store/two_process_test.cc"}},  // between two polls
      {"sleep_for(", "a condition with a deadline", {"common/base/", "tests/support/", "tests/bench/", "chaos/"}},
  };
  for (const auto& file : ReadSourceTree()) {
    if (file.path == "tests/tidy/tidy_test.cc") continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string code = CodeOf(file.lines[i]);
      for (const auto& rule : banned) {
        if (code.find(rule.call) == std::string::npos) continue;
        const bool fine = std::any_of(rule.allowed_in.begin(), rule.allowed_in.end(),
                                      [&](const auto& prefix) { return StartsWith(file.path, prefix); });
        EXPECT_TRUE(fine) << file.path << ":" << i + 1 << ": " << rule.call << "; use " << rule.instead;
      }
    }
  }
}

// S160 (the root is its user's): before a program opens a file, it sets the umask.
TEST(Tidy, EachProgramKeepsItsFilesPrivate) {
  int programs = 0;
  for (const auto& file : ReadSourceTree()) {
    if (StartsWith(file.path, "tests/") || StartsWith(file.path, "docs/")) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      if (!StartsWith(file.lines[i], "int main(")) continue;
      ++programs;
      ASSERT_LT(i + 1, file.lines.size());
      EXPECT_EQ(file.lines[i + 1], "  ratchet::KeepFilesPrivate();") << file.path;
    }
  }
  EXPECT_GE(programs, 10);
}

TEST(Tidy, FaultPointsAreListedOnceAndUsed) {
  const auto names = FaultPoints::Instance().Names();
  const std::set<std::string> listed(names.begin(), names.end());
  EXPECT_EQ(listed.size(), names.size()) << "a fault point is listed twice";
  std::set<std::string> used;
  for (const auto& file : ReadSourceTree()) {
    if (StartsWith(file.path, "tests/") || StartsWith(file.path, "common/base/fault_point")) continue;
    for (const auto& name : listed) {
      if (file.text.find('"' + name + '"') != std::string::npos) used.insert(name);
    }
    constexpr std::string_view kCall = "HitFault(\"";
    for (auto at = file.text.find(kCall); at != std::string::npos; at = file.text.find(kCall, at + 1)) {
      const auto start = at + kCall.size();
      const std::string name = file.text.substr(start, file.text.find('"', start) - start);
      EXPECT_TRUE(listed.count(name)) << file.path << " hits " << name << ", which fault_points.def does not list";
    }
  }
  for (const auto& name : listed) EXPECT_TRUE(used.count(name)) << name << " is listed but hit nowhere";
}

TEST(Tidy, EveryMutantIsCaughtBySomeTestAndExplained) {
  std::ifstream file("docs/mutants.md");
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  const auto sources = ReadSourceTree();
  std::set<std::string> names;
  for (const std::string& listed : MutantNames()) {
    const std::string name = listed.substr(0, listed.find(':'));
    EXPECT_TRUE(names.insert(name).second) << name << " is listed twice in common/base/mutants.def";
    const bool tested = std::any_of(sources.begin(), sources.end(), [&](const auto& source) {
      return StartsWith(source.path, "tests/") && source.text.find('"' + name + '"') != std::string::npos;
    });
    EXPECT_TRUE(tested) << name << ": no test switches it on";
    EXPECT_NE(document.find('`' + name + '`'), std::string::npos) << name << " is missing in docs/mutants.md";
  }
}

// A second spelling of a class could differ by a letter, and then no client would know it.
TEST(Tidy, ExceptionNamesAreWrittenOnce) {
  static const std::regex name(R"re("org\.apache\.hadoop\.hbase\.[A-Za-z.]*Exception")re");
  std::size_t found = 0;
  for (const auto& file : ReadSourceTree()) {
    if (StartsWith(file.path, "tests/")) continue;
    for (const auto& line : file.lines) {
      if (!std::regex_search(line, name)) continue;
      ++found;
      EXPECT_EQ(file.path, "common/base/exception_names.h") << line;
    }
  }
  EXPECT_GT(found, 40U);
}

// No statement exists for a mutant alone. In an `if`, a mutant follows a condition of the product, as
// `condition || RATCHET_MUTANT("...")` or `condition && !RATCHET_MUTANT("...")`.
TEST(Tidy, MutantsStandInConditions) {
  static const std::vector<const char*> checked_folders = {"common/", "master/", "procedure/", "regionserver/"};
  static const std::regex alone(R"re(\bif \((?:[^|]*&& )?RATCHET_MUTANT\("([a-z_.]+)"\)(?! \|\|))re");
  // The rules that these break are kept by the order of statements: the mutant does something earlier.
  static const std::set<std::string> order = {
      "log.covered_before_check",        "master.read_before_raising",    "master.zookeeper_first",
      "meta.commit_row_by_row",          "procedure.ack_before_commit",   "procedure.act_before_commit",
      "procedure.release_before_commit", "procedure.system_record_apart", "reconciler.ask_under_lock",
      "region.edits_go_early",           "region.unneeded_before_check",  "region.visible_before_sync",
      "replication.move_first",          "seal.index_before_sync",        "store.check_before_sync",
      "store.read_before_claim",         "store.unlink_before_low_water"};
  // These are kept by the absence of a statement: the product has no condition for what the mutant does, such as a
  // second sync after a failed one, or the removal of a claim.
  static const std::set<std::string> absence = {"build.one_name",
                                                "host.join_running_sync",
                                                "master.empty_schema",
                                                "orders.flush_is_the_regions",
                                                "region.no_flush_of_replayed",
                                                "rpc.count_waiting_calls_only",
                                                "store.claim_removed",
                                                "store.no_seal",
                                                "store.survive_failed_sync"};
  std::set<std::string> found_alone;
  for (const auto& file : ReadSourceTree()) {
    const bool checked = std::any_of(checked_folders.begin(), checked_folders.end(),
                                     [&file](const char* folder) { return StartsWith(file.path, folder); });
    if (!checked) continue;
    for (const auto& line : file.lines) {
      std::smatch found;
      if (!std::regex_search(line, found, alone) || !CommentOf(line).empty()) continue;
      const std::string name = found[1].str();
      found_alone.insert(name);
      EXPECT_TRUE(order.contains(name) || absence.contains(name))
          << file.path << ": a statement for " << name << " alone";
    }
  }
  for (const auto& list : {order, absence})
    for (const std::string& name : list) EXPECT_TRUE(found_alone.contains(name)) << name << ": take it off the list";
}

}  // namespace
}  // namespace ratchet::tidy
