// Verbs on region servers.
#include "common/tools/cli/flag_checks.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {

void AddServerVerbs(CLI::App& app, Action& action) {
  const auto server = std::make_shared<std::string>();
  const auto wait = std::make_shared<bool>(true);
  constexpr const char* kServerHelp = "host:port, or host,port,startcode";
  constexpr const char* kNoWait = "Return when the procedure is durable";
  const auto stop = std::make_shared<bool>(false);
  auto* drain = AddVerb(app, "drain", "Move all regions off a server, and assign none to it until it is taken back",
                        {"drain rs1:16020", "drain rs1:16020 --and-stop"});
  drain->add_option("server", *server, kServerHelp)->required()->type_name(kind::kServer);
  drain->add_flag("--and-stop", *stop, "Then stop the server, and wait until it has ended");
  drain->add_flag("!--no-wait", *wait, kNoWait);
  drain->callback([=, &action] { action = [=](Session& s) { return DrainServer(s, *server, *stop, *wait); }; });

  const auto regions = std::make_shared<std::vector<std::string>>();
  auto* undrain = AddVerb(app, "undrain", "Let a drained server have regions again, and move the given regions to it",
                          {"undrain rs1:16020", "undrain rs1:16020 56f9 a3c0"});
  undrain->add_option("server", *server, kServerHelp)->required()->type_name(kind::kServer);
  undrain->add_option("regions", *regions, "Encoded names, or beginnings of them")->type_name(kind::kRegion);
  undrain->add_flag("!--no-wait", *wait, kNoWait);
  undrain->callback([=, &action] { action = [=](Session& s) { return UndrainServer(s, *server, *regions, *wait); }; });

  AddVerb(app, "drained", "List the servers that are drained, until they are taken back", {"drained"})
      ->callback([&action] { action = ShowDrained; });

  const auto dry_run = std::make_shared<bool>(false);
  auto* balance =
      AddVerb(app, "balance", "Move regions so that each server has its share", {"balance", "balance --dry-run"});
  balance->add_flag("--dry-run", *dry_run, "Only show which regions would be moved, and the gain");
  balance->callback([=, &action] { action = [=](Session& s) { return Balance(s, *dry_run); }; });

  const auto to = std::make_shared<std::string>();
  auto* balancer =
      AddVerb(app, "balancer", "Show whether `balance` is allowed, or switch it", {"balancer", "balancer off"});
  balancer->add_option("to", *to, "on or off")->check(CLI::IsMember({"on", "off"}))->type_name("on|off");
  balancer->callback([=, &action] { action = [=](Session& s) { return SwitchBalancer(s, *to); }; });
}

}  // namespace ratchet::cli
