// The page of the web site on which rocecap, compiled to WebAssembly, reads a visitor's capture.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "browser/browser_fixture.hpp"
#include "support/process.hpp"
#include "support/tool.hpp"

namespace capture_page_test {
namespace {

namespace fs = std::filesystem;
using browser_test::contains;

constexpr const char* built = "build/browser";

bool is_built() {
    return fs::exists(fs::path(built) / "rocecap.wasm");
}

constexpr const char* not_built =
    "rocecap is not compiled to WebAssembly: make site-rocecap does it.";

class CapturePage : public browser_test::BrowserTest {
  protected:
    void SetUp() override {
        if (!is_built())
            GTEST_SKIP() << not_built;
        BrowserTest::SetUp();
    }

    /// The page of the site, opened as a file.
    static support::Page open() { return browser().open(file()); }

    static std::string file() {
        static const support::TempPath made("capture_page");
        std::string path = made.str() + "/your-capture.html";
        if (!fs::exists(path)) {
            fs::create_directories(made.str());
            const auto outcome =
                support::run({"/bin/bash", "docs/site/capture/make", built}, {}, limit);
            EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
            std::ofstream(path) << outcome.out;
        }
        return path;
    }

    /// Drops a file with this content, as base64 or text.
    static void drop(support::Page& page, const std::string& name, const std::string& bytes) {
        page.evaluate(fmt::format(
            "{{ const data = new DataTransfer(); data.items.add(new File([{}], '{}'));"
            "document.getElementById('drop').dispatchEvent(new DragEvent('drop', {{bubbles: true, "
            "cancelable: true, dataTransfer: data}})); }}",
            bytes, name));
    }

    /// A script's expression for a file of the first sample.
    static std::string of_sample(const std::string& name) {
        return fmt::format(
            "Uint8Array.from(atob(document.querySelector('.sample').textContent.match(/^{} "
            "(.*)$/m)[1]), c => c.charCodeAt(0))",
            name);
    }

    static std::string text_of(support::Page& page, const char* id) {
        return page.evaluate(fmt::format("document.getElementById('{}').textContent", id))
            .get<std::string>();
    }

    static void wait_for_report(support::Page& page) {
        page.wait_until("!document.getElementById('report').hidden", limit);
    }

    static constexpr std::chrono::seconds limit{60};
};

std::string printed(const support::Argv& arguments) {
    return support::rocecap(arguments).out;
}

constexpr const char* sample = "captures/samples/04_access_denied";
const std::string sample_capture = std::string(sample) + "/annotated.pcapng";

TEST_F(CapturePage, names_the_cause_of_a_dropped_capture) {
    auto page = open();
    drop(page, "some.pcapng", of_sample("annotated.pcapng"));
    wait_for_report(page);
    EXPECT_EQ(text_of(page, "text"), printed({"explain", sample_capture}));
    EXPECT_TRUE(contains(text_of(page, "text"), "remote-access"));
    EXPECT_EQ(text_of(page, "status"), "some.pcapng");
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
    for (const std::string& url : page.requests())
        EXPECT_TRUE(url.starts_with("file:") || url.starts_with("blob:")) << url;
}

TEST_F(CapturePage, prints_each_command_as_text_and_json) {
    auto page = open();
    page.click("#samples button");
    wait_for_report(page);
    for (const char* command : {"explain", "check", "flows", "psns"}) {
        page.click(fmt::format("[data-command={}]", command));
        const auto wait = [&](const support::Argv& arguments) {
            page.wait_until(fmt::format("document.getElementById('answer').ariaBusy === 'false' && "
                                        "document.getElementById('text').textContent === {}",
                                        nlohmann::json(printed(arguments)).dump()),
                            limit);
        };
        wait({command, sample});
        page.click("#json");
        wait({command, sample, "--json"});
        page.click("#json");
    }
}

TEST_F(CapturePage, opens_a_frame_of_the_explanation_in_the_report) {
    auto page = open();
    page.click("#samples button");
    wait_for_report(page);
    page.click("#text a[href='#frame-5']");
    EXPECT_EQ(page.evaluate("document.getElementById('report').src.endsWith('#frame-5')"), true);
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
}

TEST_F(CapturePage, saves_a_report_that_opens_as_a_file) {
    auto page = open();
    page.click("#samples button");
    wait_for_report(page);
    auto report = this->page(page.evaluate("opened.report.text()").get<std::string>());
    report.wait_until("document.documentElement.dataset.ready === 'yes'", limit);
    EXPECT_EQ(report.evaluate("document.querySelector('h1').textContent"),
              "Lesson 04_access_denied");
    report.evaluate("location.hash = '#frame-4'");
    report.wait_until(
        "document.querySelector('#rows .item.active').textContent.includes('Frame 4')");
}

TEST_F(CapturePage, makes_an_anonymized_copy) {
    auto page = open();
    drop(page, "some.pcapng", of_sample("annotated.pcapng"));
    wait_for_report(page);
    page.evaluate(
        "run(['anonymize', '/anonymized.pcapng'], '/anonymized.pcapng')"
        ".then(({ file }) => open([new File([file], 'anonymized.pcapng')]))");
    page.wait_until("document.getElementById('status').textContent === 'anonymized.pcapng'", limit);
    const std::string text = text_of(page, "text");
    EXPECT_TRUE(contains(text, "remote-access"));  // the rkey has another value
    EXPECT_EQ(text.find("0x00fff9da"), std::string::npos) << text;
}

// Twice, from the model as well: it is always the capture that is modelled.
TEST_F(CapturePage, shows_what_would_have_happened) {
    constexpr const char* model = "A model, not a capture: 20_one_packet, ";
    auto page = open();
    page.click("#samples button:last-of-type");
    wait_for_report(page);
    const std::string captured = text_of(page, "text");
    for (const std::string rule :
         {"drop the 9th packet from client", "drop the 2nd packet from client"}) {
        page.evaluate("document.getElementById('rule').value = '" + rule + "'");
        page.click("#what-if button[type=submit]");
        page.wait_until("document.getElementById('status').textContent === '" + (model + rule) +
                            "' && !document.getElementById('report').hidden",
                        limit);
        const support::TempPath native("capture_page_model");
        printed({"simulate", "captures/samples/20_one_packet", rule, "-o", native.str()});
        EXPECT_EQ(text_of(page, "text"), printed({"explain", native.str()}));
        EXPECT_TRUE(contains(text_of(page, "text"), "loss"));
    }
    page.click("#as-captured");
    page.wait_until("document.getElementById('status').textContent === '20_one_packet'", limit);
    EXPECT_EQ(text_of(page, "text"), captured);
    page.evaluate("document.getElementById('rule').value = 'lose it'");
    page.click("#what-if button[type=submit]");
    page.wait_until("document.getElementById('status').className === 'failed'", limit);
    EXPECT_TRUE(contains(text_of(page, "status"), "a rule begins with an action"));
    EXPECT_EQ(page.evaluate("document.getElementById('result').hidden"), false);
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
}

TEST_F(CapturePage, refuses_other_files_with_one_sentence) {
    auto page = open();
    const auto refuses = [&](const std::string& files, const char* sentence) {
        page.evaluate("void open(" + files + ")");
        page.wait_until("document.getElementById('status').className === 'failed'", limit);
        EXPECT_TRUE(contains(text_of(page, "status"), sentence));
        EXPECT_EQ(page.evaluate("document.getElementById('result').hidden"), true);
        page.evaluate("say('')");
    };
    refuses("[new File(['Dear rocecap'], 'letter.txt')]",
            "rocecap: cannot read 'letter.txt': it is not a pcap or pcapng capture");
    refuses("[new File([], 'empty.pcap')]", "'empty.pcap' is empty");
    refuses("[new File(['{}'], 'client.jsonl')]", "These are only run logs");
    refuses("[new File([], 'a.pcap'), new File([], 'b.pcap')]", "These are 2 files");
    refuses("[new File(Array(301).fill(new Blob([new Uint8Array(1e6)])), 'large.pcap')]",
            "These files have 301 MB, and this page reads up to 300 MB");
}

TEST_F(CapturePage, can_connect_to_nothing) {
    auto page = open();
    const std::string address = "http://192.0.2.1/data";
    const std::string attempt =
        "fetch('" + address + "').then(() => 'arrived', (error) => error.message)";
    EXPECT_EQ(page.evaluate(attempt), "Failed to fetch");
    EXPECT_EQ(
        page.evaluate("new Promise((done) => { const worker = new Worker(URL.createObjectURL(new "
                      "Blob([`" +
                      attempt +
                      ".then(postMessage)`])));"
                      "worker.onmessage = ({ data }) => done(data); })"),
        "Failed to fetch");
    EXPECT_EQ(page.evaluate("new Promise((done) => { const image = new Image(); image.onload = () "
                            "=> done('arrived'); image.onerror = () => done('failed'); image.src = "
                            "'" +
                            address + "'; })"),
              "failed");
    ASSERT_FALSE(page.errors().empty());
    for (const std::string& error : page.errors())
        EXPECT_TRUE(contains(error, "Content Security Policy"));
}

TEST_F(CapturePage, has_at_most_three_megabytes) {
    EXPECT_LT(fs::file_size(file()), 3'000'000U);
}

// Also of captures that end too early, and of files that are no captures.
TEST(RocecapForBrowsers, prints_what_the_native_program_prints) {
    if (!is_built())
        GTEST_SKIP() << not_built;
    if (support::run({"which", "node"}).exit_code != 0)
        GTEST_SKIP() << "node is not installed: it is in Debian's package nodejs.";
    const auto outcome =
        support::run({"node", "tests/browser/same_bytes.js", built, support::rocecap(),
                      "captures/samples", "tests/upper/captures", "tests/fuzz/corpus/capture_file"},
                     {}, std::chrono::seconds(300));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace capture_page_test
