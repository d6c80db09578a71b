// data_bench: measures reads and writes of one region server under a number of clients: rate, times, and for each
// operation the server's processor time, context switches and log syncs. In the same run it measures a bare append and
// sync on the same disk, and a bare echo: calls that the server answers without a region.
//
// With -old, a second cluster runs other programs (an earlier build). Both are measured in turn, and each line ends
// with the ratio of this build's rate to theirs; the median of the rounds.
//
// With -secure tls or -secure tls,rights, this build's cluster speaks TLS, or also judges each call by the right of a
// user who is not a superuser; the other cluster is a plain one, of the same build unless -old names another. Log syncs
// are not counted then.
//
// Options: -secure tls,rights -op get,multiget,put,batch,incr,hotincr,scan -clients 1,8,64 -files 0,1,4 -seconds 3
// -rounds 3 -rows 20000 -dir PATH -bin PATH -old PATH. Keys are drawn from the seed 7.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "chaos/cluster/child_process.h"
#include "common/base/log.h"
#include "common/base/prng.h"
#include "common/model/codec.h"
#include "common/model/proto/access_control.pb.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/methods/client_service.h"
#include "common/rpc/methods/master_service.h"
#include "common/tls/cluster_certificates.h"
#include "common/tls/process_tls.h"
#include "tests/bench/bench_cluster.h"
#include "tests/support/http_client.h"
#include "tests/support/metrics_parser.h"

namespace {

using namespace ratchet;         // NOLINT(google-build-using-namespace): a program's main
using namespace ratchet::bench;  // NOLINT(google-build-using-namespace)

struct Options {
  std::vector<std::string> ops{"get", "multiget", "put", "batch", "incr", "hotincr", "scan"};
  std::vector<std::string> clients{"1", "8", "64"};
  std::vector<std::string> files{"0", "1", "4"};
  std::uint64_t seconds = 3;
  std::uint64_t rounds = 3;
  std::uint64_t rows = 20'000;
  std::string dir = "data_bench.data";
  std::string bin;
  std::string old;
  std::vector<std::string> secure;
};

const SystemClock kSteady;
constexpr std::uint64_t kBatch = 50;
constexpr std::uint64_t kScanned = 1'000;
constexpr const char* kServer = "rs-1";

// The server's counters at one moment.
struct Spent {
  double processor_us = 0;
  std::uint64_t switches = 0;
  double syncs = 0;
};

// One measurement of one cluster.
struct Measured {
  double rate = 0;  // operations a second
  double p50 = 0;   // ms
  double p99 = 0;
  double processor_us = 0;  // of the server, for one operation
  double switches = 0;
  double syncs = 0;
};

// The settings of a cluster. Connections that this program opens from now on fit to it.
std::vector<std::string> Secured(const std::vector<std::string>& kinds, const std::string& dir) {
  tls::ProcessTls::SetOfProcess(nullptr);
  std::vector<std::string> flags;
  for (const std::string& kind : kinds) {
    if (kind == "tls") {
      const std::filesystem::path made = std::filesystem::absolute(dir + ".certificates");
      std::filesystem::remove_all(made);
      Require(tls::WriteClusterCertificates(made, {"127.0.0.1+localhost"}));
      tls::TlsOptions own;
      own.connect = true;
      own.files.certificate = made / tls::kAdminFile;
      own.files.trust = made / tls::kAuthorityFile;
      tls::ProcessTls::SetOfProcess(Take(tls::ProcessTls::Open(own, tls::TlsMaterial::Use::kClient)));
      for (const char* flag : {"--tls=require", "--tls-connect=true"}) flags.emplace_back(flag);
      flags.push_back(fmt::format("--tls-certificate={}", (made / "127.0.0.1.pem").string()));
      flags.push_back(fmt::format("--tls-trust={}", own.files.trust));
    } else if (kind == "rights") {
      for (const char* flag : {"--rights=enforce", "--superusers=cluster,admin"}) flags.emplace_back(flag);
    } else {
      EndWith(Error(Code::kInvalidArgument, "unknown kind of security " + kind));
    }
  }
  return flags;
}

class World {
 public:
  World(const Options& options, const std::string& dir, std::string bin, const std::vector<std::string>& secure)
      : options_(options),
        secure_(secure),
        flags_(Secured(secure, dir)),
        cluster_({dir, std::move(bin), /*masters=*/1, /*servers=*/1, flags_, flags_}) {
    if (std::find(secure.begin(), secure.end(), "rights") != secure.end()) GiveRights();
  }

  [[nodiscard]] double BareSync() {
    BareAppend bare(cluster_.dir() / "bare");
    constexpr int kSyncs = 100;
    double sum = 0;
    for (int i = 0; i < kSyncs; ++i) sum += bare.Once();
    return sum / kSyncs;
  }

  // Makes a table whose rows are spread over `files` files, 0: they are in the memstore.
  void MakeTable(const std::string& files) {
    const std::uint64_t count = std::strtoull(files.c_str(), nullptr, 10);
    client::Admin admin = cluster_.admin();
    name_ = {"default", "data" + files};
    TableDescriptor descriptor;
    descriptor.name = name_;
    descriptor.families.push_back(DefaultFamily("f"));
    Require(admin.WaitOk(admin.CreateTable(descriptor, {})));
    for (std::uint64_t file = 0; file < std::max<std::uint64_t>(count, 1); ++file) {
      PutRows(file, std::max<std::uint64_t>(count, 1));
      if (count > 0) Require(admin.WaitOk(admin.FlushTable(name_)));
    }
  }

  Measured Measure(const std::string& op, std::uint64_t clients) {
    std::atomic<bool> stop{false};
    std::vector<Spread> times(clients);
    std::vector<std::thread> threads;
    const Spent before = Look();
    const TimePoint begin = kSteady.Now();
    for (std::uint64_t i = 0; i < clients; ++i) threads.emplace_back([&, i] { Work(op, i, stop, times[i]); });
    while (MillisSince(begin) < static_cast<double>(options_.seconds) * 1000) chaos::PollPause(10);
    stop = true;
    for (std::thread& thread : threads) thread.join();
    const double seconds = MillisSince(begin) / 1000;
    const Spent after = Look();
    Spread all;
    for (const Spread& each : times) all.samples.insert(all.samples.end(), each.samples.begin(), each.samples.end());
    const auto count = static_cast<double>(std::max<std::size_t>(all.samples.size(), 1));
    return {count / seconds,
            all.At(0.5),
            all.At(0.99),
            (after.processor_us - before.processor_us) / count,
            static_cast<double>(after.switches - before.switches) / count,
            (after.syncs - before.syncs) / count};
  }

 private:
  [[nodiscard]] static std::string KeyOf(std::uint64_t row) { return fmt::format("row{:09}", row); }

  void PutRows(std::uint64_t begin, std::uint64_t step) {
    client::Table table(cluster_.connection(), name_);
    std::vector<client::Mutation> batch;
    for (std::uint64_t i = begin; i < options_.rows; i += step) {
      batch.push_back(client::Mutation::Put(KeyOf(i)).Set("f", "q", std::string(100, 'v')));
      if (batch.size() < 500 && i + step < options_.rows) continue;
      for (const Status& put : table.MutateMany(batch)) Require(put);
      batch.clear();
    }
  }

  void Work(const std::string& op, std::uint64_t client, const std::atomic<bool>& stop, Spread& times) {
    client::Table table(cluster_.connection(), name_);
    Prng prng(7 + client);
    const std::function<void()> once = Operation(op, client, table, prng);
    while (!stop) {
      const TimePoint begin = kSteady.Now();
      once();
      times.samples.push_back(MillisSince(begin));
    }
  }

  std::function<void()> Operation(const std::string& op, std::uint64_t client, client::Table& table, Prng& prng) {
    const auto random_row = [this, &prng] { return KeyOf(prng.Below(options_.rows)); };
    if (op == "get") return [&table, random_row] { Require(table.Get({random_row(), {}, 1, {}})); };
    if (op == "echo") return [this] { Echo(); };
    if (op == "multiget") return [this, random_row] { GetMany(random_row); };
    if (op == "put")
      return [&table, random_row] {
        Require(table.Mutate(client::Mutation::Put(random_row()).Set("f", "q", std::string(100, 'w'))));
      };
    if (op == "batch")
      return [&table, random_row] {
        std::vector<client::Mutation> batch;
        for (std::uint64_t i = 0; i < kBatch; ++i)
          batch.push_back(client::Mutation::Put(random_row()).Set("f", "q", std::string(100, 'w')));
        for (const Status& put : table.MutateMany(batch)) Require(put);
      };
    if (op == "incr" || op == "hotincr")
      return [&table, row = op == "incr" ? fmt::format("count{}", client) : std::string("hot")] {
        Require(table.Mutate(client::Mutation::Increment(row).Add("f", "n", 1)));
      };
    if (op == "scan")
      return [this, &table, &prng] {
        client::Scan scan;
        scan.start_row = KeyOf(prng.Below(options_.rows - std::min(options_.rows - 1, kScanned)));
        scan.limit = kScanned;
        auto scanner = table.Scan(scan);
        while (Take(scanner.Next())) {
        }
      };
    EndWith(Error(Code::kInvalidArgument, "unknown operation " + op));
  }

  // The client library has no such call, so this one is made by hand.
  void GetMany(const std::function<std::string()>& random_row) {
    client::RetryLoop loop = cluster_.connection().NewLoop();
    const auto location = Take(cluster_.connection().locator().Locate(loop, name_, KeyOf(0)));
    hbase::pb::MultiRequest request;
    auto* const region = request.add_regionaction();
    SpecifyRegion(location.region, *region->mutable_region());
    for (std::uint64_t i = 0; i < kBatch; ++i) {
      auto* const action = region->add_action();
      action->set_index(static_cast<std::uint32_t>(i));
      action->mutable_get()->set_row(random_row());
    }
    const auto reply = Take(cluster_.connection().pool().CallSync(methods::kMulti, location.endpoint(), request));
    if (reply.message.regionactionresult_size() != 1 || reply.message.regionactionresult(0).has_exception())
      EndWith(Error(Code::kIo, "a multi of gets failed"));
  }

  // A call that needs no region.
  void Echo() {
    Require(cluster_.connection().pool().CallSync(methods::kGetServerInfo,
                                                  {"127.0.0.1", cluster_.cluster().Info(kServer).port}, {}));
  }

  // The user of the measurements is not a superuser, so that each call is judged by its right.
  void GiveRights() {
    client::ConnectionOptions options = cluster_.connection().options();
    options.user = "admin";
    const auto connection = Take(client::Connection::Open(options));
    hbase::pb::GrantRequest request;
    auto& user = *request.mutable_user_permission();
    user.set_user(cluster_.connection().options().user);
    user.mutable_permission()->set_type(hbase::pb::Permission::Global);
    for (const auto action : {hbase::pb::Permission::READ, hbase::pb::Permission::WRITE, hbase::pb::Permission::CREATE,
                              hbase::pb::Permission::ADMIN})
      user.mutable_permission()->mutable_global_permission()->add_action(action);
    Require(client::Admin(*connection).Call(methods::kGrant, request));
  }

  [[nodiscard]] Spent Look() {
    Spent spent;
    const std::string process = fmt::format("/proc/{}", cluster_.cluster().Info(kServer).id.pid);
    std::ifstream stat(process + "/stat");
    std::string text((std::istreambuf_iterator<char>(stat)), std::istreambuf_iterator<char>());
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double user = 0;
    double kernel = 0;
    fields >> user >> kernel;
    spent.processor_us = (user + kernel) * 1e6 / static_cast<double>(::sysconf(_SC_CLK_TCK));
    for (const auto& thread : std::filesystem::directory_iterator(process + "/task")) {
      std::ifstream status(thread.path() / "status");
      for (std::string line; std::getline(status, line);) {
        if (line.find("ctxt_switches:") == std::string::npos) continue;
        spent.switches += std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
      }
    }
    if (secure_.empty()) spent.syncs = SyncsOfLogs();
    return spent;
  }

  [[nodiscard]] double SyncsOfLogs() {
    const std::string mark = "Start: page at http://127.0.0.1:";
    if (page_ == 0) {
      const std::string line = Take(cluster_.cluster().WaitLog(kServer, mark, Millis(60'000)));
      page_ = static_cast<std::uint16_t>(std::strtoul(line.c_str() + line.find(mark) + mark.size(), nullptr, 10));
    }
    const std::string answer = http::Fetch(page_, "/metrics");
    return metrics::ParseMetrics(answer.substr(answer.find("\r\n\r\n") + 4))
        .Value("ratchet_log_sync_duration_seconds_count");
  }

  const Options& options_;
  const std::vector<std::string> secure_;
  const std::vector<std::string> flags_;
  BenchCluster cluster_;
  TableName name_;
  std::uint16_t page_ = 0;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {
    worlds_.push_back(std::make_unique<World>(options_, options.dir, options.bin, options.secure));
    if (options.old.empty() && options.secure.empty()) return;
    const std::string& old = options.old.empty() ? options.bin : options.old;
    worlds_.push_back(std::make_unique<World>(options_, options.dir + ".old", old, std::vector<std::string>()));
  }

  void Run() {
    std::printf("%-9s %5s %7s %10s %9s %9s %8s %8s %8s %8s %9s%s\n", "operation", "files", "clients", "ops/s", "p50 ms",
                "p99 ms", "cpu us", "switches", "syncs", "sync ms", "ops/sync",
                worlds_.size() > 1 ? "  rate, cpu: new/old" : "");
    for (const std::string& files : options_.files) {
      for (const auto& world : worlds_) world->MakeTable(files);
      if (files == options_.files.front()) Line("echo", files);
      for (const std::string& op : options_.ops) Line(op, files);
    }
  }

 private:
  // Measures an operation in rounds, in which the clusters take turns. `sync ms`: mean time of a bare append and sync
  // between the rounds. `ops/sync`: operations in that time.
  void Line(const std::string& op, const std::string& files) {
    for (const std::string& clients : options_.clients) {
      std::vector<Measured> rounds;
      std::vector<double> syncs;
      std::vector<double> rates;
      std::vector<double> processor;
      for (std::uint64_t round = 0; round < options_.rounds; ++round) {
        const std::uint64_t count = std::strtoull(clients.c_str(), nullptr, 10);
        syncs.push_back(worlds_.front()->BareSync());
        Measured old;  // measured first in every second round
        if (worlds_.size() > 1 && round % 2 == 1) old = worlds_.back()->Measure(op, count);
        rounds.push_back(worlds_.front()->Measure(op, count));
        if (worlds_.size() == 1) continue;
        if (round % 2 == 0) old = worlds_.back()->Measure(op, count);
        rates.push_back(rounds.back().rate / old.rate);
        processor.push_back(rounds.back().processor_us / old.processor_us);
      }
      std::sort(rounds.begin(), rounds.end(), [](const Measured& a, const Measured& b) { return a.rate < b.rate; });
      const Measured& middle = rounds[rounds.size() / 2];
      std::printf("%-9s %5s %7s %10.0f %9.3f %9.3f %8.1f %8.2f %8.3f %8.3f %9.1f", op.c_str(), files.c_str(),
                  clients.c_str(), middle.rate, middle.p50, middle.p99, middle.processor_us, middle.switches,
                  middle.syncs, Median(syncs), middle.rate * Median(syncs) / 1000);
      if (worlds_.size() > 1) std::printf("  %.2f %.2f", Median(rates), Median(processor));
      std::printf("\n");
      std::fflush(stdout);
    }
  }

  const Options options_;
  std::vector<std::unique_ptr<World>> worlds_;
};

std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

Options Parse(int argc, char** argv) {
  Options options;
  const std::map<std::string, std::function<void(const std::string&)>> known{
      {"-op", [&](const std::string& value) { options.ops = Words(value); }},
      {"-clients", [&](const std::string& value) { options.clients = Words(value); }},
      {"-files", [&](const std::string& value) { options.files = Words(value); }},
      {"-seconds", [&](const std::string& value) { options.seconds = std::stoull(value); }},
      {"-rounds", [&](const std::string& value) { options.rounds = std::stoull(value); }},
      {"-rows", [&](const std::string& value) { options.rows = std::stoull(value); }},
      {"-dir", [&](const std::string& value) { options.dir = value; }},
      {"-bin", [&](const std::string& value) { options.bin = value; }},
      {"-secure", [&](const std::string& value) { options.secure = Words(value); }},
      {"-old", [&](const std::string& value) { options.old = value; }},
  };
  for (int i = 1; i + 1 < argc; i += 2) {
    const auto option = known.find(argv[i]);
    if (option == known.end()) {
      std::fprintf(stderr, "data_bench: unknown option %s (the head of data_bench.cc lists them)\n", argv[i]);
      std::exit(2);
    }
    option->second(argv[i + 1]);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  ConfigureLog({LogLevel::kError, ""});
  Bench(Parse(argc, argv)).Run();
  return 0;
}
