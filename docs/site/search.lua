-- Writes the search index as a script, which a page can load even if it is opened as a file.
local M = {}

local function text_of(blocks)
  local words = {}
  local function add(text) words[#words + 1] = text end
  local function space() add(' ') end
  pandoc.Div(blocks):walk {
    traverse = 'topdown',
    Str = function(element) add(element.text) end,
    Code = function(element) add(element.text) end,
    CodeBlock = function(element) add(' ' .. element.text) end,
    Space = space, SoftBreak = space, LineBreak = space, Para = space, Plain = space, Header = space,
  }
  return (table.concat(words):gsub('%s+', ' '))
end

local escapes = { ['"'] = '\\"', ['\\'] = '\\\\', ['<'] = '\\u003c' }
local function quoted(text)
  return '"' .. text:gsub('["\\<]', escapes):gsub('%c', ' ') .. '"'
end

-- One row for each part of a page: file, page title, id and title of the part, text, and 1 for a source.
function M.write(all, path)
  local rows = {}
  for _, page in ipairs(all) do
    local id, title, blocks = '', page.title, pandoc.Blocks {}
    local function flush()
      rows[#rows + 1] = '[' .. table.concat({ quoted(page.file), quoted(page.title), quoted(id), quoted(title),
        quoted(text_of(blocks)), page.part == 'sources' and 1 or 0 }, ',') .. ']'
    end
    if page.part ~= 'run' then
      for _, block in ipairs(page.doc.blocks) do
        if block.t == 'Header' and block.level > 1 then
          flush()
          id, title, blocks = block.identifier, pandoc.utils.stringify(block.content), pandoc.Blocks {}
        elseif block.t ~= 'Header' then
          blocks:insert(block)
        end
      end
      flush()
    end
  end
  local file = assert(io.open(path, 'w'))
  file:write('window.searchIndex = [\n', table.concat(rows, ',\n'), '\n];\n')
  file:close()
end

return M
