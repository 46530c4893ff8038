-- The pages: each document, each lesson's sources, each reference run, and files that documents link to.
-- A page has: title; file, its path in the site; source, the path of its document or file; doc, pandoc's document; lesson, the folder's
-- name. The list's table `files` maps a file or folder of the project to its page and the part of that page.
local M = {}

local Header, Para, Link, Str = pandoc.Header, pandoc.Para, pandoc.Link, pandoc.Str

function M.text_of(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read('a')
  file:close()
  return text
end

local function paths_of(find)
  local paths = {}
  local list = io.popen('LC_ALL=C; export LC_ALL; find ' .. find .. " -type f ! -name '.*' | sort")
  for path in list:lines() do
    paths[#paths + 1] = path
  end
  list:close()
  return paths
end

local language_of = { cpp = 'cpp', hpp = 'cpp', sh = 'bash', jq = 'bash', jsonl = 'json' }

-- A file as a part of a page. Only highlighted text has line numbers and ids; the language "default" is plain text.
local function listing(path, id)
  local text = M.text_of(path):gsub('\n$', '')
  local language = language_of[path:match('%.(%w+)$')] or text:match('^#!.*bash') and 'bash' or 'default'
  return pandoc.CodeBlock(text, pandoc.Attr(id, { language, 'numberLines' }))
end

local function add(all, page)
  all[#all + 1] = page
  if page.source then
    all.files[page.source] = { page = page }
  end
  return page
end

local function add_document(all, path)
  local doc = pandoc.read(M.text_of(path), 'gfm')
  local first = doc.blocks[1]
  return add(all, {
    source = path,
    file = path:gsub('README%.md$', 'index.md'):gsub('%.md$', '.html'),
    title = pandoc.utils.stringify(first.content),
    doc = doc,
    lesson = path:match('^examples/([^/]+)/README%.md$'),
  })
end

-- Adds a page with the files of a folder, one below the other.
local function add_folder(all, page, folder, paths)
  all.files[folder] = { page = page }
  for _, path in ipairs(paths) do
    local name = path:sub(#folder + 2)
    page.doc.blocks:insert(Header(2, { pandoc.Code(name) }, pandoc.Attr(name)))
    page.doc.blocks:insert(listing(path, name .. '-line'))
    all.files[path] = { page = page, id = name }
  end
  return add(all, page)
end

-- Adds a page with one file that documents link to.
function M.add_file(all, path)
  local blocks = { Header(1, { pandoc.Code(path) }), listing(path, 'line') }
  return add(all, { source = path, file = path .. '.html', title = path, doc = pandoc.Pandoc(blocks) })
end

-- Programs first.
local function sources_of(folder)
  local programs, others = {}, {}
  for _, path in ipairs(paths_of(folder)) do
    if not path:match('README%.md$') then
      table.insert(path:match('%.cpp$') and programs or others, path)
    end
  end
  return table.move(others, 1, #others, #programs + 1, programs)
end

local function add_sources(all, lesson)
  local folder = 'examples/' .. lesson
  local title = lesson == 'common' and 'What lessons share: sources' or 'Lesson ' .. lesson:match('^%d+') .. ': sources'
  local blocks = { Header(1, { Str(title) }) }
  if lesson ~= 'common' then
    blocks[2] = Para {
      Link('The lesson', 'README.md'), Str(' · '), Link('examples/common', '../common'), Str(', what lessons share'),
    }
  end
  local page = {
    title = title, doc = pandoc.Pandoc(blocks), lesson = lesson, part = 'sources',
    file = folder .. (lesson == 'common' and '/index.html' or '/sources.html'),
  }
  add_folder(all, page, folder, sources_of(folder))
end

-- Returns the columns of a run in the table of captures/samples/README.md: packets, kernel, date, command.
local function facts_of(run, problem)
  local row = M.text_of('captures/samples/README.md'):match('\n| %[' .. run .. '%][^\n]*') or ''
  local packets, kernel, date, command = row:match('^\n|[^|]*| (%d+) | ([^|]*) | ([^|]*) | `(.*)` |$')
  if not packets then
    problem("captures/samples/README.md has no row of %s: 'captures/make-samples %s' makes its run and the row.", run, run:match('^%d+'))
    return { packets = 0, kernel = '', date = '', command = '' }
  end
  return { packets = tonumber(packets), kernel = kernel, date = date, command = command }
end

-- `attribute`: src, or data-src for a frame that site.js loads when it is opened.
local function frame(attribute, folder, run)
  return pandoc.RawBlock('html', string.format(
    '<iframe %s="%sreport.html#ladder" title="The reference run of lesson %s, packet by packet"></iframe>',
    attribute, folder, run:match('^%d+')))
end

local function count(packets)
  return packets == 1 and '1 packet' or packets .. ' packets'
end

-- `run`: the folder of a run of the lesson.
local function add_run(all, lesson, run, problem)
  local folder = 'captures/samples/' .. run
  local facts = facts_of(run, problem)
  local title = 'Lesson ' .. lesson:match('^%d+') .. (run == lesson and ': the reference run' or ': another reference run')
  local blocks = pandoc.Blocks { Header(1, { Str(title) }) }
  blocks:insert(Para {
    Link('The lesson', '../../../examples/' .. lesson .. '/README.md'), Str(' · recorded on ' .. facts.date .. ', kernel '),
    Str(facts.kernel), Str(', by '), pandoc.Code(facts.command),
  })
  local texts, captures = {}, {}
  for _, path in ipairs(paths_of(folder)) do
    if path:match('%.pcapng$') then
      captures[#captures + 1] = path
      all.files[path] = { copied = true }
    else
      table.insert(texts, path:match('/timeline%.txt$') and 1 or #texts + 1, path)
    end
  end
  if facts.packets > 0 then
    blocks:insert(Header(2, { Str('Packet by packet') }, pandoc.Attr('report')))
    all.files[folder .. '/report.html'] = { copied = true }
    local line = { Link('The ' .. count(facts.packets) .. ' as a page', 'report.html'), Str('. ') }
    if all.files[folder .. '/link.pcapng'] then
      all.files[folder .. '/link.html'] = { copied = true }
      table.insert(line, Link('The frames at the link emulator', 'link.html'))
      table.insert(line, Str(', each before and after its rules. '))
    end
    table.insert(line, Str('For '))
    table.insert(line, Link('Wireshark', '../../../wireshark/README.md'))
    for i, path in ipairs(captures) do
      local name = path:match('[^/]+$')
      table.insert(line, Str(i > 1 and ', ' or ': '))
      table.insert(line, Link({ pandoc.Code(name) }, name))
    end
    table.insert(line, Str('.'))
    blocks:insert(Para(line))
    blocks:insert(frame('src', '', run))
  end
  local page = { title = title, doc = pandoc.Pandoc(blocks), file = folder .. '/index.html', lesson = lesson, part = 'run' }
  add_folder(all, page, folder, texts)
  return facts
end

-- Adds links to the run and the sources at the start of a lesson, and the packets to the section that explains them.
local function add_links(page, facts)
  local run = '../../captures/samples/' .. page.lesson
  local line = facts.packets > 0 and {
    Link('The reference run, packet by packet', run .. '/report.html'), Str(' (' .. count(facts.packets) .. ') · '),
    Link('its timeline and logs', run), Str(' · '),
  } or { Link('The reference run: logs', run), Str(' (it sends no packets) · ') }
  table.insert(line, Link('the sources', 'sources.html'))
  page.doc.blocks:insert(2, pandoc.Div({ Para(line) }, pandoc.Attr('', { 'beside' })))
  if facts.packets == 0 then
    return
  end
  for i, block in ipairs(page.doc.blocks) do
    if block.t == 'Header' and block.identifier == 'on-the-wire' then
      page.doc.blocks:insert(i + 1, pandoc.RawBlock('html', '<details class="run"><summary>The packets of the reference run</summary>'))
      page.doc.blocks:insert(i + 2, frame('data-src', run .. '/', page.lesson))
      page.doc.blocks:insert(i + 3, pandoc.RawBlock('html', '</details>'))
      return
    end
  end
end

function M.read(problem)
  local all = { files = {} }
  for _, path in ipairs(paths_of("*.md docs examples lab captures/README.md captures/samples wireshark -name '*.md'")) do
    local page = add_document(all, path)
    if page.lesson then
      add_sources(all, page.lesson)
      all.files['examples/' .. page.lesson .. '/sources.html'] = { page = all[#all] }
      add_links(page, add_run(all, page.lesson, page.lesson, problem))
      -- Runs of a lesson with other arguments: 27nfs_read.
      for _, path in ipairs(paths_of('captures/samples')) do
        local run = path:match('^captures/samples/(' .. page.lesson:match('^%d+') .. '%l+_[^/]*)/run%.json$')
        if run then
          add_run(all, page.lesson, run, problem)
        end
      end
    end
  end
  add_sources(all, 'common')
  return all
end

return M
