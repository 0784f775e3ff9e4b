internal import Store
internal import Wire

/// A message about a session on its user's channel (PROTOCOL, "Calls"). Without text of the conversation.
struct SessionEvent: JSONWritable, Sendable {
    enum Kind: String, Sendable {
        case started = "session.started"
        case ended = "session.ended"
        /// A summary was stored.
        case summaryReady = "session.summary_ready"
    }

    var kind: Kind
    var session: Session

    init(_ kind: Kind, _ session: Session) {
        self.kind = kind
        self.session = session
    }

    var bytes: [UInt8] { JSON.text(self) }

    func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("type", kind.rawValue)
            json.writeMember("data")
            json.writeObject { json in json.writeMember("session", SessionView(session)) }
        }
    }
}
