package import Wire

/// A part of earlier speech on its way to an agent's shard, which the trunk carries in place of a frame.
///
/// Laid out like a frame of an invalid version whose header has the track's alias, so that it keeps its place among the track's frames:
///
///     0  u8   0        2  u16  track alias, big-endian        12  payload
///     1  u8   kind     4  the agent's handle, 8 bytes
package struct EarlierRecord: Sendable, Hashable {
    package enum Kind: UInt8, Sendable {
        /// Live frames follow. No payload.
        case end
        /// The payload is a frame.
        case frame
        /// The payload describes the frames that follow.
        case announcement
    }

    private static let mark: UInt8 = 0

    package let kind: Kind
    package let alias: TrackAlias
    package let agent: ParticipantHandle

    init(_ kind: Kind, _ alias: TrackAlias, _ agent: ParticipantHandle) {
        self.kind = kind
        self.alias = alias
        self.agent = agent
    }

    // MARK: Reading

    /// The record that a trunk carries; nil if it is a frame.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.first == Self.mark, let kind = Kind(rawValue: bytes[1]) else { return nil }
        self.kind = kind
        alias = TrackAlias(UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
        agent = bytes.loadUnaligned(fromByteOffset: 4, as: ParticipantHandle.self)
    }

    package static func payload(of bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes.dropFirst(ProtocolLimits.frameHeaderBytes))
    }

    /// The event that the payload of an announcement describes.
    package static func event(in payload: UnsafeRawBufferPointer) -> Event {
        let start = payload.loadUnaligned(fromByteOffset: 0, as: UInt32.self)
        let live = payload.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
        let end = 9 + Int(payload[8])
        return .talkEarlier(
            Identity(text: String(decoding: payload[end...], as: UTF8.self)),
            TrackSID(text: String(decoding: payload[9..<end], as: UTF8.self)),
            from: MediaTime(ticks: start), live: MediaTime(ticks: live))
    }

    // MARK: Writing

    /// The records of a track's earlier speech for an agent, in order: what follows, the frames, the end. Only the end if there is nothing.
    ///
    /// - Parameter body: `isRequired` for those that must not be lost.
    package static func forEach(
        of frames: EarlierFrames?, since: Instant?, _ alias: TrackAlias, to agent: ParticipantHandle,
        _ body: (_ bytes: [UInt8], _ isRequired: Bool) -> Void
    ) {
        if let frames, let span = frames.span(since: since) {
            body(EarlierRecord(.announcement, alias, agent).bytes + announcement(of: frames.track, span), true)
            let head = EarlierRecord(.frame, alias, agent).bytes
            frames.forEach(since: since) { body(head + $0, false) }
        }
        body(EarlierRecord(.end, alias, agent).bytes, true)
    }

    private var bytes: [UInt8] {
        var bytes = [Self.mark, kind.rawValue, UInt8(alias.value >> 8), UInt8(alias.value & 0xff)]
        withUnsafeBytes(of: agent) { bytes.append(contentsOf: $0) }
        return bytes
    }

    private static func announcement(of track: TrackInfo, _ span: EarlierFrames.Span) -> [UInt8] {
        var bytes: [UInt8] = []
        for ticks in [span.start.ticks, span.end.ticks] { withUnsafeBytes(of: ticks) { bytes.append(contentsOf: $0) } }
        let sid = Array(track.sid.text.utf8)
        return bytes + [UInt8(sid.count)] + sid + Array(track.participant.text.utf8)
    }
}
