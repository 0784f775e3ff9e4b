import Wire

extension Room {
    mutating func sendData(_ message: DataMessage, by requester: Requester, at index: Int, into effects: inout [Effect]) throws(RequestError) {
        let sender = members[at: index]
        try sender.checkMayPublishData()
        try check(message.topic, size: message.payload.byteCount, field: "payload")
        let recipients = try recipients(of: message.to, from: sender)
        reply(to: requester, into: &effects)
        deliver(message, from: sender.signature, to: recipients, into: &effects)
    }

    /// Withholds what reads as text from those who are not to be shown any, without a word to the sender: whose screen shows what is not
    /// its to know.
    ///
    /// - Parameter sender: nil is nobody in the room.
    func deliver(_ message: DataMessage, from sender: Identity?, to recipients: [ParticipantHandle], into effects: inout [Effect]) {
        let readers = readers(among: recipients)
        let audience = readers.count < recipients.count && message.payload.isReadable ? readers : recipients
        send(.data(from: sender ?? Identity(text: ""), topic: message.topic, message.payload), to: audience, into: &effects)
    }

    mutating func sendText(_ message: TextMessage, by requester: Requester, at index: Int, into effects: inout [Effect]) throws(RequestError) {
        let sender = members[at: index]
        try sender.checkMayPublishData()
        try check(message.topic, size: message.text.utf8.count, field: "text")
        let recipients = try recipients(of: message.to, from: sender)
        let id = identifiers.text()
        reply(.textSent(id: id), to: requester, into: &effects)
        let event = Event.text(id: id, from: sender.signature, topic: message.topic, text: message.text)
        send(event, to: readers(among: recipients), into: &effects)
    }

    mutating func sendDigits(_ digits: String, by requester: Requester, at index: Int, into effects: inout [Effect]) throws(RequestError) {
        let sender = members[at: index]
        try sender.checkMayPublishData()
        guard (1...Limits.digitsMax).contains(digits.utf8.count), digits.utf8.allSatisfy(Self.keypad.contains) else {
            throw RequestError(.invalidArgument, "`digits` must be 1 to \(Limits.digitsMax) of 0-9 * # A-D, and w for a pause")
        }
        reply(to: requester, into: &effects)
        send(.digits(from: sender.signature, digits), to: everyone(but: requester.handle), into: &effects)
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
        let known = recipients(of: identities)
        guard !known.isEmpty else { throw RequestError(.notFound, "none of the participants in `to` is in the room") }
        return known.filter { $0 != sender.handle }
    }

    func recipients(of identities: [Identity]?) -> [ParticipantHandle] {
        guard let identities, !identities.isEmpty else { return everyone }
        var seen: Set<ParticipantHandle> = []
        return identities.compactMap { handles[$0] }.filter { seen.insert($0).inserted }
    }
}

extension Member {
    func checkMayPublishData() throws(RequestError) {
        guard permission.canPublishData else { throw RequestError(.notAllowed, "the token does not allow to publish data") }
    }
}
