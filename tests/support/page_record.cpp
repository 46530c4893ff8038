#include "support/page_record.hpp"

#include <fmt/format.h>

namespace support {
namespace {

using Json = nlohmann::json;

// A Runtime.RemoteObject.
std::string text_of(const Json& object) {
    if (const auto value = object.find("value"); value != object.end())
        return value->is_string() ? value->get<std::string>() : value->dump();
    return object.value("description", object.value("unserializableValue", "undefined"));
}

std::string console_text(const Json& call) {
    std::string text = "console." + call.at("type").get<std::string>() + ":";
    for (const Json& argument : call.at("args"))
        text += " " + text_of(argument);
    return text;
}

// A Log.LogEntry: a message of the browser about the network or the page's policy.
std::string entry_text(const Json& entry) {
    std::string text =
        entry.at("source").get<std::string>() + ": " + entry.at("text").get<std::string>();
    if (entry.contains("url"))
        text += " (" + entry.at("url").get<std::string>() + ")";
    return text;
}

}  // namespace

std::string exception_text(const Json& details) {
    std::string text = details.at("text");  // "Uncaught", "Uncaught (in promise)"
    if (details.contains("exception"))
        text += " " + text_of(details.at("exception"));
    if (details.contains("url"))
        text += fmt::format(" ({}:{})", details.at("url").get<std::string>(),
                            details.at("lineNumber").get<int>() + 1);
    return text;
}

void PageRecord::hear(const Json& event) {
    const std::string method = event.at("method");
    const Json& params = event.at("params");
    if (method == "Network.requestWillBeSent")
        requests_.push_back(params.at("request").at("url"));
    else if (method == "Network.webSocketCreated" || method == "Network.webTransportCreated" ||
             method == "Page.windowOpen")
        requests_.push_back(params.at("url"));
    else if (method == "Runtime.exceptionThrown")
        errors_.push_back(exception_text(params.at("exceptionDetails")));
    else if (method == "Runtime.consoleAPICalled" &&
             (params.at("type") == "error" || params.at("type") == "assert"))
        errors_.push_back(console_text(params));
    else if (method == "Log.entryAdded" && params.at("entry").at("level") == "error")
        errors_.push_back(entry_text(params.at("entry")));
    else if (method == "Page.javascriptDialogOpening")
        errors_.push_back("dialog: " + params.at("message").get<std::string>());
}

}  // namespace support
