-- RDMA Wire Lab for Wireshark 4.0: dissectors for the messages that the lessons exchange before RDMA.
--
--   rwl    the capability in rdma_cm's private data (lessons 01, 03, 04, 13, 17 and 23 to 25): src/rdma/capability.hpp
--   rwlx   the exchange of endpoints over TCP or TLS (from lesson 06 on): src/net/message.hpp
--
-- Integers are in network order. Both begin with a mark, which identifies them on any port.

local PORT = 18515 -- default port of the lessons

-- Values that are also shown in the packet list.
local function number(range) return range:uint() end
local function number64(range) return range:uint64() end
local function text(range) return range:string() end

local ALL = {} -- as a size: the field contains all remaining bytes

-- One row per field, in wire order: name, bytes, label, type, display base, value.
local capability_rows = {
    { "mark", 3, "Mark", ProtoField.string },
    { "version", 1, "Version", ProtoField.uint8, base.DEC },
    { "rkey", 4, "Remote key", ProtoField.uint32, base.HEX, number },
    { "va", 8, "Virtual address of the exposed memory", ProtoField.uint64, base.HEX, number64 },
    { "length", 8, "Length of the exposed memory", ProtoField.uint64, base.DEC, number64 },
}
local endpoint_rows = {
    { "qpn", 4, "Queue pair", ProtoField.uint32, base.HEX, number },
    { "psn", 4, "PSN of the sender's first packet", ProtoField.uint32, base.HEX, number },
    { "lid", 2, "LID", ProtoField.uint16, base.DEC },
    { "path_mtu", 2, "Path MTU", ProtoField.uint16, base.DEC, number },
    { "gid", 16, "GID", ProtoField.ipv6 },
    { "va", 8, "Virtual address of the exposed memory", ProtoField.uint64, base.HEX, number64 },
    { "memory", 8, "Length of the exposed memory", ProtoField.uint64, base.DEC, number64 },
    { "rkey", 4, "Remote key", ProtoField.uint32, base.HEX, number },
}

-- The messages of the exchange by type: the fields after the header, and the summary for the Info column.
-- Other types are shown with their number and their bytes.
local messages = {
    [1] = {
        name = "endpoint",
        rows = endpoint_rows,
        summary = function(value)
            return string.format(
                ": QPN 0x%06x, PSN 0x%06x, path MTU %d, rkey 0x%08x, va 0x%s, %s bytes",
                value.qpn, value.psn, value.path_mtu, value.rkey, value.va:tohex(), value.memory)
        end,
    },
    [2] = { name = "ready", rows = {} },
    [3] = { name = "done", rows = {} },
    [4] = {
        name = "refused",
        rows = { { "reason", ALL, "Why", ProtoField.string, nil, text } },
        summary = function(value) return ": " .. value.reason end,
    },
}
local type_names = {}
for type, message in pairs(messages) do type_names[type] = message.name end

local header_rows = {
    { "mark", 4, "Mark", ProtoField.string },
    { "version", 1, "Version", ProtoField.uint8, base.DEC, number },
    { "type", 1, "Type", ProtoField.uint8, base.DEC, number, type_names },
    { "length", 2, "Bytes that follow", ProtoField.uint16, base.DEC, number },
}

local rwl = Proto("rwl", "RDMA Wire Lab capability")
local rwlx = Proto("rwlx", "RDMA Wire Lab exchange")

local function declare(proto, rows, fields)
    for _, row in ipairs(rows) do
        local name, _, label, make, shown, _, names = table.unpack(row, 1, 7)
        row.field = make(proto.name:lower() .. "." .. name, label, shown, names)
        fields[#fields + 1] = row.field
    end
    return fields
end

local rest = ProtoField.bytes("rwlx.rest", "Bytes this dissector does not know")
local exchange_fields = declare(rwlx, header_rows, { rest })
for _, message in pairs(messages) do declare(rwlx, message.rows, exchange_fields) end
rwl.fields = declare(rwl, capability_rows, {})
rwlx.fields = exchange_fields

local function expert_info(proto, name, text)
    local abbreviation = proto.name:lower() .. "." .. name
    return ProtoExpert.new(abbreviation, text, expert.group.PROTOCOL, expert.severity.WARN)
end
local cut = {
    [rwl] = expert_info(rwl, "cut", "The capability ends too soon"),
    [rwlx] = expert_info(rwlx, "cut", "The message ends too soon"),
}
local other_version = expert_info(rwlx, "other_version", "Not version 1: this dissector does not know its layout")
local other_type = expert_info(rwlx, "other_type", "A type this dissector does not know")
rwl.experts = { cut[rwl] }
rwlx.experts = { cut[rwlx], other_version, other_type }

-- Adds the rows that the bytes suffice for. Returns the number of their bytes and their values by name,
-- or nothing if a row is missing.
local function add_rows(proto, tree, tvb, rows)
    local offset, value = 0, {}
    for _, row in ipairs(rows) do
        local name, size, _, _, _, read = table.unpack(row, 1, 6)
        if size == ALL then size = tvb:len() - offset end
        if offset + size > tvb:len() then
            tree:add_proto_expert_info(cut[proto])
            return nil
        end
        local range = tvb:range(offset, size)
        tree:add(row.field, range)
        value[name] = read and read(range)
        offset = offset + size
    end
    return offset, value
end

local function begins_with(tvb, mark)
    return tvb:len() >= #mark and tvb:raw(0, #mark) == mark
end

-- A heuristic dissector for the private data in messages of the connection manager.
rwl:register_heuristic("infiniband.mad.cm.private", function(tvb, pinfo, tree)
    if not begins_with(tvb, "RWL\1") then return false end
    local size = 24 -- rdma_cm pads the message with zeros
    local subtree = tree:add(rwl, tvb:range(0, math.min(size, tvb:len())))
    local _, value = add_rows(rwl, subtree, tvb:range(), capability_rows)
    if value then
        local summary =
            string.format("rkey 0x%08x, va 0x%s, %s bytes", value.rkey, value.va:tohex(), value.length)
        subtree:append_text(": " .. summary)
        pinfo.cols.info:append(", capability: " .. summary)
    end
    return true
end)

local MARK = "RWLX"
local HEADER = 8

local function add_body(tree, body, header)
    if header.version ~= 1 then
        tree:add_proto_expert_info(other_version)
        return 0, nil
    end
    local message = messages[header.type]
    if not message then
        tree:add_proto_expert_info(other_type)
        return 0, nil
    end
    local taken, value = add_rows(rwlx, tree, body, message.rows)
    return taken, value and message.summary and message.summary(value)
end

-- Dissects one message. TCP reassembly makes it complete, unless the capture truncated it.
local function dissect_message(tvb, pinfo, tree)
    pinfo.cols.protocol = "RWLX"
    local subtree = tree:add(rwlx, tvb:range())
    local _, header = add_rows(rwlx, subtree, tvb:range(), header_rows)
    if not header then return tvb:len() end
    local text = type_names[header.type] or ("type " .. header.type)
    if tvb:len() > HEADER then
        local body = tvb:range(HEADER)
        local taken, summary = add_body(subtree, body:tvb(), header)
        text = text .. (summary or "")
        if taken and taken < body:len() then subtree:add(rest, body:range(taken)) end
    end
    subtree:append_text(", " .. text)
    pinfo.cols.info:set(text .. "  ")
    pinfo.cols.info:fence() -- text of a second message in the segment is appended
    return tvb:len()
end

-- Returns the length in bytes of the message at `offset`.
local function message_size(tvb, _, offset)
    return HEADER + tvb:range(offset + 6, 2):uint()
end

function rwlx.dissector(tvb, pinfo, tree)
    -- The mark may be split between two segments.
    local first = math.min(#MARK, tvb:len())
    if tvb:raw(0, first) ~= MARK:sub(1, first) then return 0 end
    dissect_tcp_pdus(tvb, tree, HEADER, message_size, dissect_message)
    return tvb:len()
end

local function exchange_heuristic(tvb, pinfo, tree)
    if not begins_with(tvb, MARK) then return false end
    pinfo.conversation = rwlx
    rwlx.dissector(tvb, pinfo, tree)
    return true
end
rwlx:register_heuristic("tcp", exchange_heuristic)
rwlx:register_heuristic("tls", exchange_heuristic)

-- If the port carries TLS, rwlx rejects the data, and Wireshark's heuristics find TLS.
DissectorTable.get("tcp.port"):add(PORT, rwlx)
