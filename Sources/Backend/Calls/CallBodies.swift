package import HTTPServer
package import Store
internal import Wire

extension CallStatus {
    static let schema = Schema.choice(["started", "ringing", "answered", "completed", "cancelled", "rejected", "busy", "timeout", "failed"])
}

extension CallParty {
    static let schema = Schema.text(1...ProtocolLimits.identityBytesMax)

    /// The invited parties, without the caller.
    static let calledSchema = Schema.array(of: schema, count: 1...ProtocolLimits.callMembersMax - 1)
}

extension CallMember: Described {
    package static let schema = Schema.named(
        "CallMember",
        .object([
            .required("party", CallParty.schema), .required("state", .choice(["invited", "joined", "left"])),
            .required("status", CallStatus.schema), .required("held", .boolean), .required("muted", .boolean),
            .optional("device", .text(1...64)),
        ]))
}

extension CallInfo: Described {
    package static let schema = Schema.named(
        "Call",
        .object([
            .required("id", .text(1...64)), .required("uuid", .text(36...36)), .required("room", .text(1...256)), .required("seq", .count),
            .required("status", CallStatus.schema), .required("caller", CallParty.schema),
            .required("caller_name", .text(0...ProtocolLimits.participantNameBytesMax)),
            .required("metadata", .text(0...ProtocolLimits.callMetadataBytesMax)), .optional("conversation", .uuid),
            .required("members", .array(of: CallMember.schema, atMost: ProtocolLimits.callMembersMax)),
            .optional("started_at", .time), .optional("answered_at", .time), .optional("ended_at", .time),
        ]))
}

extension CallStart: Described {
    package static let schema = Schema.named(
        "CallStart",
        .object([
            .optional("to", CallParty.calledSchema), .optional("conversation", .uuid),
            .optional("caller_name", .text(0...ProtocolLimits.participantNameBytesMax)),
            .optional("metadata", .text(0...ProtocolLimits.callMetadataBytesMax)),
        ]))
}

extension CallLogEntry: Described {
    package static let schema = Schema.named(
        "PastCall",
        .object([
            .required("id", .text(1...64)), .required("caller", CallParty.schema),
            .required("caller_name", .text(0...ProtocolLimits.participantNameBytesMax)), .required("status", CallStatus.schema),
            .required(
                "members",
                .array(
                    of: .object([.required("party", CallParty.schema), .required("status", CallStatus.schema)]),
                    atMost: ProtocolLimits.callMembersMax)),
            .required("started_at", .time), .optional("answered_at", .time), .required("ended_at", .time),
        ]))
}

/// The current state of a call.
struct CallView: Encodable, Sendable, Described {
    var call: CallInfo

    static let schema = Schema.named("CallReply", .object([.required("call", CallInfo.schema)]))
}

/// A call with the URL and token of its room. Both are omitted for a repeated request whose call has ended.
struct CallToken: Encodable, Sendable, Described {
    var callId: CallID
    var status: CallStatus
    var livekitUrl: String?
    var livekitToken: String?
    var roomName: String?
    var call: CallInfo

    init(_ reply: CallReply, _ call: CallInfo) {
        callId = call.id
        status = call.status
        livekitUrl = reply.livekitUrl
        livekitToken = reply.livekitToken
        roomName = reply.roomName
        self.call = call
    }

    static let schema = Schema.named(
        "CallToken",
        .object([
            .required("call_id", .text(1...64)), .required("status", CallStatus.schema), .optional("livekit_url", .uri),
            .optional("livekit_token", .text(1...16_384)), .optional("room_name", .text(1...256)), .required("call", CallInfo.schema),
        ]))
}

struct CallRejectionBody: Decodable, Sendable, Described {
    var busy: Bool?
    var reason: String?

    static let schema = Schema.named(
        "CallRejection", .object([.optional("busy", .boolean), .optional("reason", .text(0...ProtocolLimits.callReasonBytesMax))]))
}

struct CallMuteBody: Decodable, Sendable, Described {
    var muted: Bool

    static let schema = Schema.named("CallMute", .object([.required("muted", .boolean)]))
}

struct CallInvitationBody: Decodable, Sendable, Described {
    var to: [CallParty]

    static let schema = Schema.named(
        "CallInvitation", .object([.required("to", CallParty.calledSchema)]))
}
