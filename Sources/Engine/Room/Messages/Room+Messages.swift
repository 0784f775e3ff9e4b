internal import Wire

extension Room {
    mutating func sendData(_ message: DataMessage, by requester: Requester, at index: Int) throws(RequestError) {
        let sender = members[at: index]
        try sender.checkMayPublishData()
        try check(message.topic, size: message.payload.byteCount, field: "payload")
        let recipients = try recipients(of: message.to, from: sender)
        reply(to: requester)
        deliver(message, from: sender.signature, to: recipients)
    }

    /// Sends data. Participants that must not receive text are left out if the payload is readable; the sender does not learn of
    /// it.
    ///
    /// - Parameter sender: nil if the sender is not in the room.
    mutating func deliver(_ message: DataMessage, from sender: Identity?, to recipients: [ParticipantHandle]) {
        let readers = members.readers(among: recipients)
        let audience = readers.count < recipients.count && message.payload.isReadable ? readers : recipients
        send(.data(from: sender ?? Identity(text: ""), topic: message.topic, message.payload), to: audience)
    }

    mutating func sendText(_ message: TextMessage, by requester: Requester, at index: Int) throws(RequestError) {
        let sender = members[at: index]
        try sender.checkMayPublishData()
        try check(message.topic, size: message.text.utf8.count, field: "text")
        let recipients = try recipients(of: message.to, from: sender)
        let id = identifiers.text()
        reply(.textSent(id: id), to: requester)
        let event = Event.text(id: id, from: sender.signature, topic: message.topic, text: message.text)
        send(event, to: members.readers(among: recipients))
        recordTyped(message, as: id, by: sender)
    }

    mutating func sendDigits(_ digits: String, by requester: Requester, at index: Int) throws(RequestError) {
        let sender = members[at: index]
        try sender.checkMayPublishData()
        guard (1...Limits.digitsMax).contains(digits.utf8.count), digits.utf8.allSatisfy(Self.keypad.contains) else {
            throw RequestError(.invalidArgument, "`digits` must be 1 to \(Limits.digitsMax) of 0-9 * # A-D, and w for a pause")
        }
        reply(to: requester)
        send(.digits(from: sender.signature, digits), to: members.handles(except: requester.handle))
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

    /// The recipients, without duplicates and without the sender. An empty list means everybody (as in LiveKit); unknown identities
    /// are ignored if at least one is known.
    private func recipients(of identities: [Identity]?, from sender: Participant) throws(RequestError) -> [ParticipantHandle] {
        let known = members.recipients(of: identities)
        guard !known.isEmpty else { throw RequestError(.notFound, "none of the participants in `to` is in the room") }
        return known.filter { $0 != sender.handle }
    }
}

extension Participant {
    func checkMayPublishData() throws(RequestError) {
        guard permission.canPublishData else { throw RequestError(.notAllowed, "the token does not allow publishing data") }
    }
}
