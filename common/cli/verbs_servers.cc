// Verbs on region servers.
#include "common/cli/flag_checks.h"
#include "common/cli/verbs.h"

namespace ratchet::cli {

void AddServerVerbs(CLI::App& app, Action& action) {
  const auto server = std::make_shared<std::string>();
  const auto wait = std::make_shared<bool>(true);
  constexpr const char* kServerHelp = "host:port, or host,port,startcode";
  constexpr const char* kNoWait = "Return when the procedure is durable";
  const auto stop = std::make_shared<bool>(false);
  auto* drain = AddVerb(app, "drain", "Move all regions off a server, and give it none until it is taken back",
                        {"drain rs1:16020", "drain rs1:16020 --and-stop"});
  drain->add_option("server", *server, kServerHelp)->required()->type_name(kind::kServer);
  drain->add_flag("--and-stop", *stop, "Then tell the server to stop, and wait until it has ended");
  drain->add_flag("!--no-wait", *wait, kNoWait);
  drain->callback([=, &action] { action = [=](Session& s) { return DrainServer(s, *server, *stop, *wait); }; });

  const auto regions = std::make_shared<std::vector<std::string>>();
  auto* undrain = AddVerb(app, "undrain", "Take a drained server back; with regions: and move these to it",
                          {"undrain rs1:16020", "undrain rs1:16020 56f9 a3c0"});
  undrain->add_option("server", *server, kServerHelp)->required()->type_name(kind::kServer);
  undrain->add_option("regions", *regions, "Encoded names, or beginnings of them")->type_name(kind::kRegion);
  undrain->add_flag("!--no-wait", *wait, kNoWait);
  undrain->callback([=, &action] { action = [=](Session& s) { return UndrainServer(s, *server, *regions, *wait); }; });

  AddVerb(app, "drained", "List the servers that are drained, until they are taken back", {"drained"})
      ->callback([&action] { action = ShowDrained; });
}

}  // namespace ratchet::cli
