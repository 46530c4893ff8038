#include "support/browser_page.hpp"

#include <cctype>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "support/browser_keys.hpp"
#include "support/page_scripts.hpp"

namespace support {
namespace {

using Json = DevTools::Json;

std::string file_url(const std::string& path) {
    std::string url = "file://";
    for (const char letter : std::filesystem::absolute(path).string()) {
        constexpr std::string_view plain = "/-._~";
        const auto byte = static_cast<unsigned char>(letter);
        if (std::isalnum(byte) != 0 || plain.find(letter) != std::string_view::npos)
            url += letter;
        else
            url += fmt::format("%{:02X}", byte);
    }
    return url;
}

std::vector<std::byte> from_base64(const std::string& text) {
    std::vector<std::byte> bytes(text.size() / 4 * 3);
    const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                       reinterpret_cast<const unsigned char*>(text.data()),
                                       static_cast<int>(text.size()));
    if (length < 0)
        throw std::runtime_error("the screenshot is not base64");
    const auto padding = text.size() - text.find_last_not_of('=') - 1;
    bytes.resize(static_cast<std::size_t>(length) - padding);
    return bytes;
}

}  // namespace

Page::Page(DevTools& devtools)
    : devtools_(devtools),
      context_(devtools.call("", "Target.createBrowserContext").at("browserContextId")) {}

// Delegates to the constructor above: if this one throws, the destructor closes the page.
Page::Page(DevTools& devtools, const std::string& file) : Page(devtools) {
    url_ = file_url(file);
    const Json target = devtools_.call("", "Target.createTarget",
                                       {{"url", "about:blank"}, {"browserContextId", context_}});
    const Json attached = devtools_.call("", "Target.attachToTarget",
                                         {{"targetId", target.at("targetId")}, {"flatten", true}});
    session_ = attached.at("sessionId");
    attach(session_);
    call("Page.enable");
    call("Page.setLifecycleEventsEnabled", {{"enabled", true}});
    call("Inspector.enable");
    call("Performance.enable");
    call("Emulation.setFocusEmulationEnabled", {{"enabled", true}});
    constexpr int width = 1280, height = 800;
    set_viewport(width, height);
    set_dark(false);
    const Json started = call("Page.navigate", {{"url", url_}});
    if (started.contains("errorText"))
        throw std::runtime_error(url_ + ": " + started.at("errorText").get<std::string>());
    devtools_.await([&] { return loaded_.contains(started.at("loaderId")); },
                    "the page to load: " + url_);
}

Page::~Page() {
    try {
        for (const std::string& session : sessions_)
            devtools_.listen(session, {});
        devtools_.call("", "Target.disposeBrowserContext", {{"browserContextId", context_}});
    } catch (const std::exception& error) {
        fmt::print(stderr, "closing {}: {}\n", url_, error.what());
    }
}

void Page::attach(const std::string& session) {
    sessions_.insert(session);
    devtools_.listen(session, [this, session](const Json& event) { hear(session, event); });
    devtools_.post(session, "Runtime.enable");
    devtools_.post(session, "Network.enable");
    devtools_.post(session, "Log.enable");
    devtools_.post(session, "Target.setAutoAttach",
                   {{"autoAttach", true}, {"waitForDebuggerOnStart", true}, {"flatten", true}});
    devtools_.post(session, "Runtime.runIfWaitingForDebugger");
}

void Page::hear(const std::string& session, const Json& event) {
    const std::string method = event.at("method");
    record_.hear(event);
    if (method == "Page.javascriptDialogOpening")
        devtools_.post(session, "Page.handleJavaScriptDialog", {{"accept", false}});
    else if (method == "Target.attachedToTarget")
        attach(event.at("params").at("sessionId"));
    else if (method == "Page.lifecycleEvent" && event.at("params").at("name") == "load")
        loaded_.insert(event.at("params").at("loaderId"));
    else if (method == "Inspector.targetCrashed")
        throw std::runtime_error("the page crashed: " + url_);
}

Json Page::call(const std::string& method, const Json& params) {
    return devtools_.call(session_, method, params);
}

Json Page::evaluate(std::string_view script) {
    return evaluate(script, DevTools::time_limit);
}

Json Page::evaluate(std::string_view script, std::chrono::milliseconds limit) {
    Json answer;
    try {
        answer = devtools_.call(
            session_, "Runtime.evaluate",
            {{"expression", script}, {"awaitPromise", true}, {"returnByValue", true}}, limit);
    } catch (const std::runtime_error& error) {
        throw std::runtime_error(fmt::format("{}\nin: {}", error.what(), script));
    }
    if (answer.contains("exceptionDetails"))
        throw std::runtime_error(
            fmt::format("{}\nin: {}", exception_text(answer.at("exceptionDetails")), script));
    const Json& result = answer.at("result");
    if (result.contains("unserializableValue"))
        return result.at("unserializableValue");
    return result.value("value", Json());
}

void Page::wait_until(std::string_view expression, std::chrono::milliseconds limit) {
    const Json last = evaluate(wait_script(expression, limit), limit + DevTools::time_limit);
    if (last == true)
        return;
    std::string text = fmt::format("waited {} ms in vain for {}\nat last it was: {}", limit.count(),
                                   expression, last.get<std::string>());
    for (const std::string& error : errors())
        text += "\nthe page says: " + error;
    throw std::runtime_error(text);
}

void Page::press(std::string_view name, int modifiers) {
    const Key key = key_named(name);
    const bool types = (modifiers & ~shift_key) == 0 && !key.text.empty();
    Json event{{"type", types ? "keyDown" : "rawKeyDown"},
               {"key", key.key},
               {"code", key.code},
               {"windowsVirtualKeyCode", key.virtual_code},
               {"modifiers", modifiers | (key.shift ? shift_key : no_modifier)}};
    if (types)
        event["text"] = key.text;
    call("Input.dispatchKeyEvent", event);
    event["type"] = "keyUp";
    event.erase("text");
    call("Input.dispatchKeyEvent", event);
}

void Page::type(std::string_view text) {
    call("Input.insertText", {{"text", text}});
}

Point Page::centre_of(std::string_view selector) {
    const Json centre = evaluate(centre_script(selector));
    return {centre.at("x"), centre.at("y")};
}

void Page::mouse(const char* type, Point at, bool held) {
    call("Input.dispatchMouseEvent", {{"type", type},
                                      {"x", at.x},
                                      {"y", at.y},
                                      {"button", held ? "left" : "none"},
                                      {"buttons", held ? 1 : 0},
                                      {"clickCount", held ? 1 : 0}});
}

void Page::click(std::string_view selector) {
    const Point centre = centre_of(selector);
    mouse("mouseMoved", centre, false);
    mouse("mousePressed", centre, true);
    mouse("mouseReleased", centre, true);
}

// A script cannot wait for the other document: the navigation ends it, with an error.
void Page::follow(std::string_view selector) {
    const auto before = loaded_.size();
    click(selector);
    devtools_.await([&] { return loaded_.size() > before; },
                    fmt::format("a document to load after a click on {}", selector));
}

void Page::move_to(Point to) {
    mouse("mouseMoved", to, false);
}

void Page::drag(Point from, Point to) {
    mouse("mouseMoved", from, false);
    mouse("mousePressed", from, true);
    constexpr int steps = 5;
    for (int step = 1; step <= steps; ++step)
        mouse("mouseMoved",
              {from.x + (to.x - from.x) * step / steps, from.y + (to.y - from.y) * step / steps},
              true);
    mouse("mouseReleased", to, true);
}

void Page::set_viewport(int width, int height, double scale) {
    call("Emulation.setDeviceMetricsOverride",
         {{"width", width}, {"height", height}, {"deviceScaleFactor", scale}, {"mobile", false}});
}

void Page::set_dark(bool dark) {
    const Json scheme{{"name", "prefers-color-scheme"}, {"value", dark ? "dark" : "light"}};
    call("Emulation.setEmulatedMedia", {{"features", Json::array({scheme})}});
}

std::vector<std::byte> Page::screenshot() {
    return from_base64(call("Page.captureScreenshot", {{"format", "png"}}).at("data"));
}

// Replies arrive in order: after this one, all earlier events of the page have been handled.
void Page::settle() {
    evaluate("new Promise((resolve) => setTimeout(resolve))");
}

const std::vector<std::string>& Page::requests() {
    settle();
    return record_.requests();
}

const std::vector<std::string>& Page::errors() {
    settle();
    return record_.errors();
}

std::map<std::string, double> Page::metrics() {
    const Json answer = call("Performance.getMetrics");
    std::map<std::string, double> values;
    for (const Json& metric : answer.at("metrics"))
        values[metric.at("name")] = metric.at("value");
    return values;
}

}  // namespace support
