import Wire

extension Room {
    /// Relays a segment to everybody but its sender, who knows, and keeps it for those who come later.
    ///
    /// A participant may transcribe what it said itself; an agent transcribes for others too. A revision that is not newer
    /// than what is known is answered as if it had been taken: it was overtaken, which is nobody's mistake.
    mutating func transcribe(
        _ segment: TranscriptSegment, by requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        let sender = members[at: index]
        try sender.checkMayPublishData()
        try segment.check()
        let speaker = segment.participant ?? sender.identity
        if sender.kind != .agent {
            guard speaker == sender.identity, segment.role == .user else {
                throw RequestError(.notAllowed, "only an agent may transcribe for others; send role \"user\" about yourself")
            }
        }
        // Naming a hidden one would tell everybody that it is there.
        guard let known = handles[speaker].flatMap({ members[$0] }), !known.isHidden else {
            throw RequestError(.notFound, "nobody in the room can be transcribed under that identity")
        }
        var segment = segment
        segment.participant = speaker
        let outcome = transcript.take(&segment, at: now)
        if outcome == .taken { throw RequestError(.invalidArgument, "this `id` names what somebody else said; choose another") }
        reply(to: requester, into: &effects)
        guard outcome != .stale else { return }
        send(.segment(segment), to: readers(among: everyone(but: requester.handle)), into: &effects)
        recordTranscript(segment, at: now, into: &effects)
    }
}

extension TranscriptSegment {
    fileprivate func check() throws(RequestError) {
        guard (1...Limits.segmentIDBytesMax).contains(id.utf8.count) else {
            throw RequestError(.invalidArgument, "`id` must be 1 to \(Limits.segmentIDBytesMax) bytes")
        }
        guard rev >= 0 else { throw RequestError(.invalidArgument, "`rev` must not be negative") }
        guard text.utf8.count <= Limits.segmentTextBytesMax else {
            throw RequestError(.limitExceeded, "`text` is over \(Limits.segmentTextBytesMax) bytes")
        }
        guard (words?.count ?? 0) <= Limits.segmentWordsMax else {
            throw RequestError(.limitExceeded, "there are over \(Limits.segmentWordsMax) `words`")
        }
    }
}
