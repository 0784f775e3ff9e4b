/// A text message of the gateway on a user's own channel, as a client reads it.
public enum CallMessage: Sendable, Hashable {
    case hello(CallsHello)
    case event(CallEvent)
    /// An event of a later version of the protocol: to be passed over.
    case unknownEvent(type: String)
    case reply(re: UInt64, CallReply)
    /// `re` is nil where the gateway could not tell which request was meant.
    case error(re: UInt64?, CallError)

    /// Reads one text message of the gateway.
    ///
    /// - Throws: `DecodingError` if it is not as PROTOCOL has it.
    public init(parsing text: [UInt8]) throws {
        self = try ControlCoding.decode(Envelope.self, from: text).message
    }
}

/// The gateway's side: events as text, the same for all who get them.
extension CallEvent {
    public var bytes: [UInt8] {
        let fields = Fields(call: call, by: by, device: device, reason: reason)
        return Array(#"{"type":"\#(kind.rawValue)","data":"#.utf8) + ControlCoding.bytes(of: fields) + [UInt8(ascii: "}")]
    }

    fileprivate struct Fields: Codable {
        var call: CallInfo
        var by: CallParty?
        var device: DeviceID?
        var reason: String?
    }
}

extension CallsHello {
    public var bytes: [UInt8] {
        Array(#"{"type":"hello","data":"#.utf8) + ControlCoding.bytes(of: self) + [UInt8(ascii: "}")]
    }
}

private struct Envelope: Decodable {
    var message: CallMessage

    private enum Key: String, CodingKey { case type, re, data }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        switch try fields.decode(String.self, forKey: .type) {
        case "hello": message = .hello(try fields.decode(CallsHello.self, forKey: .data))
        case "reply":
            message = .reply(re: try fields.decode(UInt64.self, forKey: .re), try fields.decode(CallReply.self, forKey: .data))
        case "error":
            message = .error(
                re: try fields.decodeIfPresent(UInt64.self, forKey: .re), try fields.decode(CallError.self, forKey: .data))
        case let name:
            guard let kind = CallEvent.Kind(rawValue: name) else {
                message = .unknownEvent(type: name)
                return
            }
            let body = try fields.decode(CallEvent.Fields.self, forKey: .data)
            message = .event(CallEvent(kind, body.call, by: body.by, device: body.device, reason: body.reason))
        }
    }
}
