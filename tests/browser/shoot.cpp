// shoot FILE PLACE WIDTHxHEIGHT light|dark PICTURE: writes a screenshot of a page, scrolled to
// PLACE, as PNG, for docs/figures. PLACE is the fragment of the address, such as "frame-4".
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include "support/browser.hpp"

namespace {

void shoot(const std::string& file, const std::string& place, const std::string& size, bool dark,
           const std::string& picture) {
    const auto by = size.find('x');
    support::Browser browser;
    support::Page page = browser.open(file);
    page.set_viewport(std::stoi(size), std::stoi(size.substr(by + 1)));
    page.set_dark(dark);
    page.wait_until("document.documentElement.dataset.ready === 'yes'");
    page.evaluate("goTo('#" + place + "')");
    // What is drawn on request of a frame is visible in the next frame.
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    const auto bytes = page.screenshot();
    std::ofstream(picture, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 6) {
        std::fputs("usage: shoot FILE PLACE WIDTHxHEIGHT light|dark PICTURE\n", stderr);
        return 2;
    }
    try {
        shoot(argv[1], argv[2], argv[3], std::string(argv[4]) == "dark", argv[5]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "shoot: %s\n", error.what());
        return 1;
    }
    return 0;
}
