import Wire

extension Room {
    mutating func sendData(_ message: DataMessage, by asker: Asker, at place: Int, into effects: inout [Effect]) throws(RequestError) {
        let sender = members[at: place]
        try sender.checkMayPublishData()
        try check(message.topic, size: message.payload.byteCount, field: "payload")
        let recipients = try recipients(of: message.to, from: sender)
        reply(to: asker, into: &effects)
        send(.data(from: sender.signature, topic: message.topic, message.payload), to: recipients, into: &effects)
    }

    mutating func sendText(_ message: TextMessage, by asker: Asker, at place: Int, into effects: inout [Effect]) throws(RequestError) {
        let sender = members[at: place]
        try sender.checkMayPublishData()
        try check(message.topic, size: message.text.utf8.count, field: "text")
        let recipients = try recipients(of: message.to, from: sender)
        let id = identifiers.text()
        reply(.textSent(id: id), to: asker, into: &effects)
        send(.text(id: id, from: sender.signature, topic: message.topic, text: message.text), to: recipients, into: &effects)
    }

    mutating func sendDigits(_ digits: String, by asker: Asker, at place: Int, into effects: inout [Effect]) throws(RequestError) {
        let sender = members[at: place]
        try sender.checkMayPublishData()
        guard (1...Limits.digitsMax).contains(digits.utf8.count), digits.utf8.allSatisfy(Self.keypad.contains) else {
            throw RequestError(.invalidArgument, "`digits` must be 1 to \(Limits.digitsMax) of 0-9 * # A-D, and w for a pause")
        }
        reply(to: asker, into: &effects)
        send(.digits(from: sender.signature, digits), to: everyone(but: asker.handle), into: &effects)
    }

    private static let keypad = Array("0123456789*#ABCDw".utf8)

    private func check(_ topic: String, size: Int, field: String) throws(RequestError) {
        guard topic.utf8.count <= Limits.topicBytesMax else {
            throw RequestError(.limitExceeded, "`topic` is over \(Limits.topicBytesMax) bytes")
        }
        guard size <= ProtocolLimits.dataBytesMax else {
            throw RequestError(.limitExceeded, "`\(field)` is over \(ProtocolLimits.dataBytesMax) bytes")
        }
    }

    /// Those meant, each once and never the sender. An empty list means everybody, as no list does (LiveKit's habit);
    /// the unknown are passed over as long as one is known.
    private func recipients(of identities: [Identity]?, from sender: Member) throws(RequestError) -> [ParticipantHandle] {
        guard let identities, !identities.isEmpty else { return everyone(but: sender.handle) }
        var seen: Set<ParticipantHandle> = []
        let known = identities.compactMap { handles[$0] }.filter { seen.insert($0).inserted }
        guard !known.isEmpty else { throw RequestError(.notFound, "none of the participants in `to` is in the room") }
        return known.filter { $0 != sender.handle }
    }
}

extension Member {
    func checkMayPublishData() throws(RequestError) {
        guard permission.canPublishData else { throw RequestError(.notAllowed, "the token does not allow to publish data") }
    }
}
