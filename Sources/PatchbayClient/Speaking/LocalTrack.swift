public import Audio
internal import Synchronization
public import Wire

/// A track that we publish. Safe to use from any task; frames of one track should come from one.
public final class LocalTrack: Sendable, Identifiable {
    /// Ours alone: the same after a fresh join, when the sid is another.
    public let id: Int
    private let door: RoomDoor
    private let requestTimeout: Duration
    private let state: Mutex<TrackInfo>

    init(door: RoomDoor, info: TrackInfo, requestTimeout: Duration) {
        id = door.loop.makeID()
        self.door = door
        self.requestTimeout = requestTimeout
        state = Mutex(info)
    }

    /// As the gateway describes it. Sid and alias are others after a reconnect that did not get our place back.
    public var info: TrackInfo { state.withLock { $0 } }
    public var sid: TrackSID { info.sid }

    func renew(_ info: TrackInfo) {
        state.withLock { $0 = info }
    }

    // MARK: Opus packets

    /// Sends one Opus packet, now. Never waits: if the socket takes no more, frames queue up (`SendQueue`, 128 of them), and the
    /// oldest are dropped and counted in `RoomStatistics.framesUnsent`. So are all frames while there is no connection.
    ///
    /// The sequence number is the library's business. So is the flag 0x80, on the first frame and after each pause of 200 ms; it
    /// may be set besides.
    ///
    /// - Parameters:
    ///   - packet: one Opus packet (RFC 6716), 1 to 1,488 bytes and 2.5 to 120 ms.
    ///   - timing: where it lies on the track's 48 kHz clock.
    ///   - level: how loud it is, and whether it is voice (RFC 6464).
    ///   - flags: `.talkspurtStart`, `.talkspurtEnd`, `.dtx`, `.inbandFEC`; others are the gateway's and are left out.
    /// - Throws: `OpusError.packet` if the bytes are no Opus packet, or too many.
    public func send(
        _ packet: [UInt8], timing: FrameTiming = .following, level: AudioLevelByte, flags: FrameFlags = []
    ) throws(OpusError) {
        guard packet.count <= ProtocolLimits.opusPacketBytesMax else { throw .packet(.frameTooLong) }
        let ticks: Int
        do { ticks = try OpusPacket(packet).ticks } catch { throw .packet(error) }
        door.post(.send(OutgoingFrame(packet: packet, ticks: ticks, timing: timing, level: level, flags: flags), track: id))
    }

    /// Sends frames at the pace of the clock: the first at once, each other one when the ones before it are over; returns when the
    /// last one is.
    ///
    /// - Parameters:
    ///   - next: the frames, one after another; nil at the end.
    ///   - sent: told of each frame that has left, and when it did, by `MediaClock`.
    /// - Throws: what `next` throws, `CancellationError`, `OpusError.packet`, or `RequestFailure.ended` when the room is over.
    public func speak(
        frames next: () throws -> SpokenFrame?, sent: (SpokenFrame, Instant) -> Void = { _, _ in }
    ) async throws {
        var pacer = Pacer()
        while let frame = try next() {
            sent(frame, try await send(frame, &pacer))
        }
        if let end = pacer.end { try await MediaClock.sleep(until: end) }
    }

    // MARK: PCM

    /// Speaks a whole utterance at the pace of the clock, and returns when it is over. It is one talkspurt, whatever pauses are in it.
    ///
    /// - Parameters:
    ///   - sound: any rate from 1,000 to 768,000 Hz; it is resampled to 48 kHz, and mixed to mono unless its channels are
    ///     `settings.channels`.
    /// - Throws: `CancellationError`, `OpusError`, `ResamplerError`, or `RequestFailure.ended` when the room is over.
    public func speak(_ sound: PCMBuffer, settings: SpeechSettings = SpeechSettings()) async throws {
        var speech = try PCMSpeech(sound, settings: settings)
        try await speak { try speech.next() }
    }

    /// A way to speak PCM that is not there all at once.
    ///
    /// - Throws: `OpusError` for settings out of range.
    public func makePCMSource(_ settings: SpeechSettings = SpeechSettings()) throws(OpusError) -> PCMSource {
        try PCMSource(track: self, settings: settings)
    }

    /// Sends a frame when it is due.
    ///
    /// - Returns: when that was.
    @discardableResult
    func send(_ frame: SpokenFrame, _ pacer: inout Pacer) async throws -> Instant {
        let due = pacer.deadline(ticks: frame.ticks, silenceBefore: frame.silenceBefore, at: MediaClock.now)
        try await MediaClock.sleep(until: due)
        if door.mirror.isEnded { throw RequestFailure.ended }
        let now = MediaClock.now
        try send(frame.packet, timing: .afterSilence(ticks: frame.silenceBefore), level: frame.level, flags: frame.flags)
        return now
    }

    // MARK: Requests

    /// Mutes the track, or takes that back. While it is muted the gateway drops its frames.
    public func mute(_ muted: Bool = true) async throws(RequestFailure) {
        _ = try await withCheckedContinuation { door.post(.mute(id, muted, timeout: requestTimeout, $0)) }.get()
    }

    /// Takes the track out of the room. Frames sent on it afterwards go nowhere.
    public func unpublish() async throws(RequestFailure) {
        _ = try await withCheckedContinuation { door.post(.unpublish(id, timeout: requestTimeout, $0)) }.get()
    }
}
