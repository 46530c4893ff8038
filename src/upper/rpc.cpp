#include "upper/rpc.hpp"

#include <algorithm>

namespace upper {
namespace {

constexpr std::uint32_t nfs_program = 100003;
constexpr std::uint32_t compound_procedure = 1;

std::optional<std::uint32_t> word(util::Cursor& cursor) {
    const auto bytes = cursor.take<4>();
    return bytes ? std::optional(util::be32<0>(*bytes)) : std::nullopt;
}

// Reads a length and that many bytes, padded to a multiple of four.
std::optional<util::Bytes> opaque(util::Cursor& cursor) {
    constexpr std::size_t unit = 4;
    const auto length = word(cursor);
    const auto bytes = length ? cursor.take(*length) : std::nullopt;
    if (!bytes || !cursor.take((unit - *length % unit) % unit))
        return std::nullopt;
    return bytes;
}

// Skips credentials or a verifier: a flavour and its body.
bool skip_auth(util::Cursor& cursor) {
    return word(cursor) && opaque(cursor);
}

std::string_view nfs3_name(std::uint32_t procedure) {
    constexpr auto names = std::to_array<std::string_view>(
        {"NFSv3 NULL",     "NFSv3 GETATTR", "NFSv3 SETATTR",     "NFSv3 LOOKUP", "NFSv3 ACCESS",
         "NFSv3 READLINK", "NFSv3 READ",    "NFSv3 WRITE",       "NFSv3 CREATE", "NFSv3 MKDIR",
         "NFSv3 SYMLINK",  "NFSv3 MKNOD",   "NFSv3 REMOVE",      "NFSv3 RMDIR",  "NFSv3 RENAME",
         "NFSv3 LINK",     "NFSv3 READDIR", "NFSv3 READDIRPLUS", "NFSv3 FSSTAT", "NFSv3 FSINFO",
         "NFSv3 PATHCONF", "NFSv3 COMMIT"});
    return procedure < names.size() ? names[procedure] : std::string_view();
}

// Layout of an operation's arguments: opaques, then bytes of fixed length.
struct Operation {
    std::string_view name;
    int opaques = -1;  // -1: not a fixed layout
    std::uint8_t bytes = 0;
};

// RFC 7530, 16; RFC 8881, 18; RFC 7862, 15. By number, from 3 on.
constexpr std::uint32_t first_operation = 3;
constexpr auto operations = std::to_array<Operation>({
    {"ACCESS", 0, 4},
    {"CLOSE", 0, 20},
    {"COMMIT", 0, 12},
    {"CREATE"},
    {"DELEGPURGE", 0, 8},
    {"DELEGRETURN", 0, 16},
    {"GETATTR"},  // a bitmap: see skip()
    {"GETFH", 0, 0},
    {"LINK", 1, 0},
    {"LOCK"},
    {"LOCKT"},
    {"LOCKU"},
    {"LOOKUP", 1, 0},
    {"LOOKUPP", 0, 0},
    {"NVERIFY"},
    {"OPEN"},
    {"OPENATTR", 0, 4},
    {"OPEN_CONFIRM", 0, 20},
    {"OPEN_DOWNGRADE", 0, 28},
    {"PUTFH", 1, 0},
    {"PUTPUBFH", 0, 0},
    {"PUTROOTFH", 0, 0},
    {"READ", 0, 28},
    {"READDIR"},
    {"READLINK", 0, 0},
    {"REMOVE", 1, 0},
    {"RENAME", 2, 0},
    {"RENEW", 0, 8},
    {"RESTOREFH", 0, 0},
    {"SAVEFH", 0, 0},
    {"SECINFO", 1, 0},
    {"SETATTR"},
    {"SETCLIENTID"},
    {"SETCLIENTID_CONFIRM", 0, 16},
    {"VERIFY"},
    {"WRITE"},
    {"RELEASE_LOCKOWNER"},
    {"BACKCHANNEL_CTL"},
    {"BIND_CONN_TO_SESSION", 0, 24},
    {"EXCHANGE_ID"},
    {"CREATE_SESSION"},
    {"DESTROY_SESSION", 0, 16},
    {"FREE_STATEID", 0, 16},
    {"GET_DIR_DELEGATION"},
    {"GETDEVICEINFO"},
    {"GETDEVICELIST"},
    {"LAYOUTCOMMIT"},
    {"LAYOUTGET"},
    {"LAYOUTRETURN"},
    {"SECINFO_NO_NAME", 0, 4},
    {"SEQUENCE", 0, 32},
    {"SET_SSV"},
    {"TEST_STATEID"},
    {"WANT_DELEGATION"},
    {"DESTROY_CLIENTID", 0, 8},
    {"RECLAIM_COMPLETE", 0, 4},
    {"ALLOCATE", 0, 32},
    {"COPY"},
    {"COPY_NOTIFY"},
    {"DEALLOCATE", 0, 32},
    {"IO_ADVISE"},
    {"LAYOUTERROR"},
    {"LAYOUTSTATS"},
    {"OFFLOAD_CANCEL", 0, 16},
    {"OFFLOAD_STATUS", 0, 16},
    {"READ_PLUS", 0, 28},
    {"SEEK", 0, 28},
    {"WRITE_SAME"},
    {"CLONE"},
});

const Operation* operation_of(std::uint32_t number) {
    return number >= first_operation && number - first_operation < operations.size()
               ? &operations[number - first_operation]
               : nullptr;
}

// Skips the arguments of one operation.
bool skip(util::Cursor& cursor, std::uint32_t number) {
    constexpr std::uint32_t getattr = 9;
    if (number == getattr) {
        const auto words = word(cursor);
        return words && *words <= cursor.remaining() / 4 && cursor.take(*words * std::size_t{4});
    }
    const Operation* operation = operation_of(number);
    if (operation == nullptr || operation->opaques < 0)
        return false;
    for (int i = 0; i < operation->opaques; ++i)
        if (!opaque(cursor))
            return false;
    return cursor.take(operation->bytes).has_value();
}

std::string_view text_of(util::Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};  // NOLINT: bytes as text
}

std::optional<NfsCompound> compound_call(util::Bytes arguments) {
    util::Cursor cursor(arguments);
    NfsCompound compound;
    const auto tag = opaque(cursor);
    if (!tag)
        return std::nullopt;
    compound.tag = text_of(*tag);
    compound.minor_version = word(cursor);
    const auto count = word(cursor);
    if (!count)
        return std::nullopt;
    compound.count = *count;
    while (compound.known < std::min<std::size_t>(compound.count, compound.operations.size())) {
        const auto number = word(cursor);
        if (!number)
            break;
        compound.operations[compound.known++] = *number;
        if (!skip(cursor, *number))
            break;
    }
    return compound;
}

// Decodes only the first operation: the length of its results depends on its status.
std::optional<NfsCompound> compound_reply(util::Bytes results) {
    util::Cursor cursor(results);
    NfsCompound compound;
    compound.status = word(cursor);
    const auto tag = opaque(cursor);
    const auto count = tag ? word(cursor) : std::nullopt;
    if (!count)
        return std::nullopt;
    compound.tag = text_of(*tag);
    compound.count = *count;
    if (const auto number = compound.count != 0 ? word(cursor) : std::nullopt)
        compound.operations[compound.known++] = *number;
    return compound;
}

bool is_compound(const RpcProcedure& call) {
    constexpr std::uint32_t version = 4;
    return call.program == nfs_program && call.version == version &&
           call.procedure == compound_procedure;
}

}  // namespace

std::string_view RpcProcedure::name() const {
    constexpr std::uint32_t nfs_acl = 100227;
    constexpr std::uint32_t nfs_callback = 0x40000000;
    if (program == nfs_program && version == 3)
        return nfs3_name(procedure);
    if (program == nfs_program && version == 4)
        return procedure == 0 ? "NFSv4 NULL" : procedure == 1 ? "NFSv4 COMPOUND" : "";
    if (program == nfs_callback)
        return procedure == 0 ? "NFSv4 CB_NULL" : procedure == 1 ? "NFSv4 CB_COMPOUND" : "";
    if (program == nfs_acl && version == 3) {
        constexpr auto names =
            std::to_array<std::string_view>({"NFSACL NULL", "NFSACL GETACL", "NFSACL SETACL"});
        return procedure < names.size() ? names[procedure] : std::string_view();
    }
    return {};
}

std::string_view NfsCompound::operation_name(std::size_t i) const {
    const Operation* operation = operation_of(operations.at(i));
    return operation != nullptr ? operation->name : "?";
}

std::optional<Rpc> Rpc::parse(util::Bytes message) {
    util::Cursor cursor(message);
    const auto head = cursor.take<8>();  // the XID and the type
    constexpr std::uint32_t call = 0;
    constexpr std::uint32_t reply = 1;
    Rpc rpc;
    if (!head || util::be32<4>(*head) > reply)
        return std::nullopt;
    rpc.is_reply = util::be32<4>(*head) != call;
    if (rpc.is_reply) {
        rpc.reply_state = word(cursor);
        if (rpc.reply_state != 0U || !skip_auth(cursor))
            return rpc;
        rpc.accept_state = word(cursor);
        if (rpc.accept_state == 0U)
            rpc.results = cursor.rest();
        return rpc;
    }
    constexpr std::uint32_t rpc_version = 2;
    const auto what = cursor.take<16>();
    if (!what || util::be32<0>(*what) != rpc_version)
        return std::nullopt;
    rpc.procedure = RpcProcedure{util::be32<4>(*what), util::be32<8>(*what), util::be32<12>(*what)};
    if (is_compound(*rpc.procedure) && skip_auth(cursor) && skip_auth(cursor))
        rpc.compound = compound_call(cursor.rest());
    return rpc;
}

void Rpc::answers(const RpcProcedure& call) {
    procedure = call;
    if (is_compound(call) && accept_state == 0U)
        compound = compound_reply(results);
}

}  // namespace upper
