// ratchet: the command line of a cluster. Reads the flags of all verbs; the file of each topic
// (verbs.h) declares and implements its verbs.
#include <pwd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "common/base/descriptors.h"
#include "common/base/log.h"
#include "common/base/private_files.h"
#include "common/base/resource_failure.h"
#include "common/base/version.h"
#include "common/tls/process_tls.h"
#include "common/tools/cli/audit.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/certificates.h"
#include "common/tools/cli/completion.h"
#include "common/tools/cli/flag_checks.h"
#include "common/tools/cli/page_login.h"
#include "common/tools/cli/parse_error.h"
#include "common/tools/cli/progress_reporter.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {
namespace {

constexpr const char* kFooter =
    "\nWhere the cluster is: --zookeeper or --master; without either of them RATCHET_MASTER, then RATCHET_ZOOKEEPER.\n"
    "Exit codes: 0 done; 1 refused or failed; 2 wrong usage; 3 not possible in time, nothing was executed "
    "(unreachable,\n"
    "starting, no space: see the error); 4 time-out, outcome unknown;\n"
    "5 not found; 6 something waits (why); 130 interrupted.\n"
    "Keys and values: printable text as it is, other bytes as \\xHH, a backslash doubled.\n"
    "Examples of one verb: ratchet VERB --help\n\n"
    "Examples:\n"
    "  ratchet --zookeeper 127.0.0.1:2181 create t f --regions 4\n"
    "  ratchet put t row1 f:name=value && ratchet get t row1\n"
    "  ratchet procedures && ratchet procedure 17\n";

struct Global {
  client::ConnectionOptions connection;
  tls::TlsOptions tls;
  bool json = false;
  bool quiet = false;
  std::string nonce;
  std::int64_t timeout_ms = 60'000;
};

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// Flags take precedence over the environment; within the environment a master takes precedence over the ensemble.
void ReadAddressFromEnvironment(client::ConnectionOptions& options) {
  if (!options.masters.empty() || !options.zookeeper.empty()) return;
  if (const std::string masters = FromEnvironment("RATCHET_MASTER"); !masters.empty()) {
    options.masters = CLI::detail::split(masters, ',');
  } else {
    options.zookeeper = FromEnvironment("RATCHET_ZOOKEEPER");
  }
}

// "123:456", as an interrupted command prints it.
Result<client::NonceOfRequest> ParseNonce(const std::string& text) {
  const auto colon = text.find(':');
  const auto group = ParseWhole(text.substr(0, colon), 1, UINT64_MAX);
  const auto nonce = ParseWhole(colon == std::string::npos ? "" : text.substr(colon + 1), 1, UINT64_MAX);
  if (!group.ok() || !nonce.ok())
    return Error(Code::kInvalidArgument, "--nonce: expected GROUP:NONCE, as it was printed");
  return client::NonceOfRequest{*group, *nonce};
}

// The operating system's name of the user, whatever the environment contains (a cron job, a container).
std::string UserName() {
  if (const passwd* entry = getpwuid(geteuid());
      entry != nullptr && entry->pw_name != nullptr && *entry->pw_name != '\0') {
    // Under sudo: the calling user, which an audit needs.
    const std::string sudo = FromEnvironment("SUDO_USER");
    return geteuid() == 0 && !sudo.empty() ? sudo : std::string(entry->pw_name);
  }
  return fmt::format("uid {}", geteuid());
}

void AddTlsOptions(CLI::App& app, tls::TlsOptions& tls) {
  app.add_flag("--tls-connect", tls.connect, "Connect by TLS only, and verify the host names of servers")
      ->envname("RATCHET_TLS_CONNECT");
  app.add_option("--tls-certificate", tls.files.certificate,
                 "File with this user's key and certificate (PEM or PKCS#12)")
      ->envname("RATCHET_TLS_CERTIFICATE")
      ->type_name(kind::kFile);
  app.add_option("--tls-password-file", tls.files.password, "File with the password of --tls-certificate")
      ->envname("RATCHET_TLS_PASSWORD_FILE")
      ->type_name(kind::kFile);
  app.add_option("--tls-trust", tls.files.trust, "File with the certificates of trusted authorities")
      ->envname("RATCHET_TLS_TRUST")
      ->type_name(kind::kFile);
  app.add_option("--tls-trust-password-file", tls.files.trust_password, "File with the password of --tls-trust")
      ->envname("RATCHET_TLS_TRUST_PASSWORD_FILE")
      ->type_name(kind::kFile);
}

Status UseTls(const tls::TlsOptions& options) {
  if (!options.connect) return Ok();
  RATCHET_ASSIGN(auto tls, tls::ProcessTls::Open(options, tls::TlsMaterial::Use::kClient));
  tls::ProcessTls::SetOfProcess(std::move(tls));
  return Ok();
}

// One candidate a line. No error is printed, because a shell asks.
int PrintCompletion(const CLI::App& app, const std::vector<std::string>& words) {
  ConfigureLog({LogLevel::kError, "/dev/null"});
  Completion completion = CompletionOf(app, words);
  if (!completion.kind.empty()) {
    client::ConnectionOptions options;
    options.zookeeper = FlagIn(words, "--zookeeper");
    if (const std::string masters = FlagIn(words, "--master"); !masters.empty())
      options.masters = CLI::detail::split(masters, ',');
    if (const std::string parent = FlagIn(words, "--znode-parent"); !parent.empty()) options.znode_parent = parent;
    ReadAddressFromEnvironment(options);
    for (std::string& name : LookUpNames(std::move(options), completion.kind))
      completion.words.push_back(std::move(name));
  }
  for (const std::string& word : Fitting(completion.words, words.empty() ? std::string() : words.back()))
    std::cout << word << "\n";
  return kExitOk;
}

int ExplainParseError(CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
  std::cerr << "ratchet: " << TerminalText(ParseErrorText(app, error)) << "\n";
  return kExitUsage;
}

// An answer that was not written to its file is a failure: a full disk, a device that fails.
int WithOutputWritten(int code) {
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written) return code;
  std::cerr << "ratchet: the output could not be written to the standard output; free space on its disk, or redirect "
               "it to another file\n";
  return code == kExitOk || code == kExitWaits ? kExitFailed : code;
}

void AddGlobalFlags(CLI::App& app, Global& global) {
  auto* zookeeper =
      app.add_option("--zookeeper", global.connection.zookeeper, "host:port,... of the ensemble")->type_name("PLACES");
  app.add_option("--master", global.connection.masters, "host:port of a master, instead of ZooKeeper; may be repeated")
      ->delimiter(',')
      ->excludes(zookeeper)
      ->type_name("PLACES");
  app.add_option("--znode-parent", global.connection.znode_parent, "Parent node of the cluster in ZooKeeper")
      ->type_name("PATH");
  app.add_option("--timeout-ms", global.timeout_ms, "How long an operation may take, retries included")
      ->check(Whole(1, 86'400'000))
      ->type_name(kind::kMillis);
  app.add_flag("--json", global.json, "JSON on standard output");
  app.add_flag("-q,--quiet", global.quiet, "Do not show on standard error what the command waits for");
  app.add_option("--nonce", global.nonce,
                 "GROUP:NONCE that an interrupted command has printed: repeats that request, executed once")
      ->type_name("NONCE");
  AddTlsOptions(app, global.tls);
  app.fallthrough();
}

// Runs the verb on the cluster that the flags or the environment name.
int CallCluster(const CLI::App& app, Global& global, const Action& action) {
  ConfigureLog({LogLevel::kError, ""});
  const Millis timeout(global.timeout_ms);
  global.connection.operation_timeout = timeout;
  global.connection.user = UserName();
  ReadAddressFromEnvironment(global.connection);
  if (!global.nonce.empty()) {
    const auto nonce = ParseNonce(global.nonce);
    if (!nonce.ok()) {
      std::cerr << "ratchet: " << nonce.error().message() << "\n";
      return kExitUsage;
    }
    global.connection.first_nonce = *nonce;
  }
  if (global.connection.masters.empty() && global.connection.zookeeper.empty()) {
    std::cerr << "ratchet: no cluster is named: give --zookeeper HOST:PORT or --master HOST:PORT, or set "
                 "RATCHET_ZOOKEEPER\n";
    return kExitUsage;
  }
  if (const Status used = UseTls(global.tls); !used.ok()) {
    std::cerr << "ratchet: TLS: " << used.error().message() << "\n";
    return kExitUsage;
  }
  KeepSignalsForReporter();
  auto connection = client::Connection::Open(global.connection);
  if (!connection.ok()) {
    std::cerr << "ratchet: " << connection.error().message() << "\n";
    return kExitUsage;
  }
  Session session{**connection, Printer(global.json, Look::OfStandardOutput()), timeout, global.quiet};
  const CLI::App* events = app.get_subcommand("events");
  const bool follows = events->parsed() && events->count("--follow") > 0;
  const ProgressReporter reporter(**connection, global.quiet,
                                  follows ? (*connection)->options().rpc_timeout : Millis{0});
  return WithOutputWritten(action(session));
}

int Run(int argc, char** argv) {
  CLI::App app("ratchet: the command line of a Ratchet cluster", "ratchet");
  app.require_subcommand(1);
  app.footer(kFooter);
  app.option_defaults()->always_capture_default();
  Global global;
  Action action;
  AddGlobalFlags(app, global);

  AddAllVerbs(app, action);
  CertificateFlags certificate_flags;
  const auto* certificates = AddCertificates(app, certificate_flags);
  PageLoginFlags login_flags;
  const auto* page_login = AddPageLogin(app, login_flags);
  AuditFlags audit_flags;
  const auto* audit = AddAudit(app, audit_flags);
  std::string shell = "bash";
  auto* completion = AddVerb(app, "completion", "Print a completion script for a shell",
                             {"completion bash > /etc/bash_completion.d/ratchet", "completion zsh > ~/.zfunc/_ratchet",
                              "completion fish > ~/.config/fish/completions/ratchet.fish"});
  completion->add_option("shell", shell, "Which shell")->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app.set_version_flag("-V,--version", VersionText("ratchet"));

  if (argc > 2 && std::string_view(argv[1]) == kCompleteWord) {
    return PrintCompletion(app, {argv + (std::string_view(argv[2]) == "--" ? 3 : 2), argv + argc});
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ExplainParseError(app, error);
  }
  if (completion->parsed()) {
    std::cout << CompletionScript(shell);
    return kExitOk;
  }
  if (certificates->parsed()) return WithOutputWritten(RunCertificates(certificate_flags, global.json));
  if (page_login->parsed()) return WithOutputWritten(RunPageLogin(login_flags, global.json));
  if (audit->parsed()) return WithOutputWritten(RunAudit(audit_flags, global.json));
  return CallCluster(app, global, action);
}

}  // namespace
}  // namespace ratchet::cli

int main(int argc, char** argv) {
  ratchet::KeepFilesPrivate();
  ratchet::HandleResourceFailure("ratchet", ratchet::cli::kExitFailed);
  ratchet::RaiseDescriptorLimit();
  std::setvbuf(stdout, nullptr, _IOLBF,
               0);  // a reader of `lock` or `events --follow` through a pipe reads events as they happen
  return ratchet::cli::Run(argc, argv);
}
