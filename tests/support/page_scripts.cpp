#include "support/page_scripts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace support {
namespace {

constexpr const char* wait = R"js(
    new Promise((resolve) => {{
        let last = 'not known', over = false;
        const finish = (value) => {{
            over = true;
            resolve(value);
        }};
        setTimeout(() => finish(String(last)), {1});
        const look = async () => {{
            let value;
            try {{
                last = value = await (
                    {0}
                );
            }} catch (exception) {{
                last = exception;
            }}
            if (value) finish(true);
            else if (!over) requestAnimationFrame(look);
        }};
        look();
    }})
)js";

constexpr const char* centre = R"js(
    (async (selector) => {{
        const name = (element) => element.cloneNode(false).outerHTML;
        const element = document.querySelector(selector);
        if (!element) throw new Error(`nothing matches ${{selector}}`);
        // Wait for animations that end, not for those that repeat without limit.
        const timeout = new Promise((resolve) => setTimeout(resolve, 5000));
        const moves = document.getAnimations().filter((animation) =>
            animation.playState === 'running' && animation.effect?.target?.contains(element) &&
            animation.effect.getComputedTiming().endTime < Infinity);
        await Promise.race([timeout, Promise.allSettled(moves.map((move) => move.finished))]);
        element.scrollIntoView({{block: 'center', inline: 'center', behavior: 'instant'}});
        // The first line of a link that wraps: the centre of both lines may be outside of it.
        const place = () => [...element.getClientRects()].find((box) => box.width && box.height);
        let patient = true;
        timeout.then(() => {{ patient = false; }});
        let before, box = place();
        do {{
            if (!box) throw new Error(`${{name(element)}} is not shown`);
            if (!patient) throw new Error(`${{name(element)}} does not rest`);
            before = box;
            await new Promise(requestAnimationFrame);
            box = place();
        }} while (!box || ['x', 'y', 'width', 'height'].some((side) => box[side] !== before[side]));
        const centre = {{x: box.x + box.width / 2, y: box.y + box.height / 2}};
        const hit = document.elementFromPoint(centre.x, centre.y);
        if (!hit) throw new Error(`${{name(element)}} is outside the viewport`);
        if (!element.contains(hit))
            throw new Error(`${{name(hit)}} is on top of ${{name(element)}}`);
        return centre;
    }})({})
)js";

}  // namespace

std::string wait_script(std::string_view expression, std::chrono::milliseconds limit) {
    return fmt::format(wait, expression, limit.count());
}

std::string centre_script(std::string_view selector) {
    return fmt::format(centre, nlohmann::json(selector).dump());
}

}  // namespace support
