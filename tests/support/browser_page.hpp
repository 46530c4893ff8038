// One page in the shared browser, operated like a user does: with keyboard, mouse and screenshots.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/devtools.hpp"
#include "support/page_record.hpp"

namespace support {

/// Coordinates in CSS pixels, from the viewport's upper left corner.
struct Point {
    double x = 0;
    double y = 0;
};

/// Modifier keys to hold while a key is pressed; a bit mask. The values are those of
/// Input.dispatchKeyEvent.
enum Modifier : int { no_modifier = 0, alt_key = 1, control_key = 2, meta_key = 4, shift_key = 8 };

/// A tab with its own storage, created by Browser::open(). The destructor closes it. Initially it
/// is 1280 x 800 and light. Failures and timeouts throw std::runtime_error.
class Page {
  public:
    ~Page();
    Page(const Page&) = delete;
    Page& operator=(const Page&) = delete;
    Page(Page&&) = delete;
    Page& operator=(Page&&) = delete;

    const std::string& url() const { return url_; }

    /// Returns the value of a script, or of its promise; null for undefined, and a string for a
    /// number that JSON does not have. Throws an exception of the script with its text and stack.
    nlohmann::json evaluate(std::string_view script);

    /// Evaluates the expression (or its promise) once per frame until it is true. An expression
    /// that throws counts as false.
    void wait_until(std::string_view expression,
                    std::chrono::milliseconds limit = std::chrono::seconds(10));

    /// Presses and releases a key, given by its event.key: "a", "?", "Enter" (browser_keys.hpp).
    void press(std::string_view key, int modifiers = no_modifier);

    /// Inserts text into the focused element like an input method: without key events.
    void type(std::string_view text);

    /// Returns the middle of the first element that matches, after it is scrolled into view and
    /// does not move. Fails if no element matches, or if another element is on top.
    Point centre_of(std::string_view selector);

    void click(std::string_view selector);

    /// Clicks a link to another document, and waits until that document has loaded.
    void follow(std::string_view selector);

    void move_to(Point to);
    void drag(Point from, Point to);

    /// `scale`: pixels of a screenshot per CSS pixel.
    void set_viewport(int width, int height, double scale = 1);
    void set_dark(bool dark);

    /// The viewport as PNG.
    std::vector<std::byte> screenshot();

    /// All URLs requested since open(), the page's own first, including failed requests.
    const std::vector<std::string>& requests();

    /// Errors since open(): uncaught exceptions, console.error, violations of the page's security
    /// policy, failed requests, dialogs (which are dismissed).
    const std::vector<std::string>& errors();

    /// The values of Performance.getMetrics: ScriptDuration and LayoutDuration in seconds,
    /// JSHeapUsedSize in bytes, Nodes, and others.
    std::map<std::string, double> metrics();

  private:
    friend class Browser;
    explicit Page(DevTools& devtools);
    Page(DevTools& devtools, const std::string& file);

    DevTools::Json call(const std::string& method,
                        const DevTools::Json& params = DevTools::Json::object());
    DevTools::Json evaluate(std::string_view script, std::chrono::milliseconds limit);
    void attach(const std::string& session);
    void hear(const std::string& session, const DevTools::Json& event);
    void settle();
    void mouse(const char* type, Point at, bool held);

    DevTools& devtools_;
    std::string context_;  // browser context with the storage
    std::string url_, session_;
    std::set<std::string> sessions_;  // of the page, its workers and frames
    std::set<std::string> loaded_;    // documents, by DevTools' loaderId
    PageRecord record_;
};

}  // namespace support
