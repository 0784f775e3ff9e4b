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
    private let clears = Atomic(0)

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

    /// How often the track has been cleared, by whomever.
    var clearCount: Int { clears.load(ordering: .relaxed) }

    func cleared() {
        clears.add(1, ordering: .relaxed)
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

    // MARK: Ahead

    /// Sends frames of an `ahead` track as fast as they are made, though no more than 30 s before they are heard, and returns when
    /// the last has left. The gateway lets them out by the clock.
    ///
    /// - Parameters:
    ///   - next: the frames, one after another; nil at the end.
    ///   - sent: told of each frame that has left, and when it did, by `MediaClock`.
    /// - Returns: false if the track was cleared meanwhile; what was left is not sent then.
    /// - Throws: what `next` throws, `CancellationError`, `OpusError.packet`, or `RequestFailure.ended` when the room is over.
    @discardableResult
    public func push(
        frames next: () throws -> SpokenFrame?, sent: (SpokenFrame, Instant) -> Void = { _, _ in }
    ) async throws -> Bool {
        let clearsBefore = clearCount
        var pacer = AheadPacer()
        while let frame = try next() {
            try await MediaClock.sleep(until: pacer.deadline(ticks: frame.ticks + frame.silenceBefore, at: MediaClock.now))
            if door.mirror.isEnded { throw RequestFailure.ended }
            if clearCount != clearsBefore { return false }
            try send(frame.packet, timing: .afterSilence(ticks: frame.silenceBefore), level: frame.level, flags: frame.flags)
            sent(frame, MediaClock.now)
        }
        return true
    }

    /// As `push(frames:)`, for a sound that is there as a whole. It is one talkspurt.
    @discardableResult
    public func push(_ sound: PCMBuffer, settings: SpeechSettings = SpeechSettings()) async throws -> Bool {
        var speech = try PCMSpeech(sound, settings: settings)
        return try await push { try speech.next() }
    }

    /// Takes back what has been sent and not heard yet. What is sent once this has returned is heard.
    ///
    /// - Returns: what was heard until then.
    @discardableResult
    public func clear(reason: String? = nil) async throws(RequestFailure) -> ClearedPlayout {
        let fields = try await withCheckedContinuation {
            door.post(.clear(id, reason: reason, timeout: requestTimeout, $0))
        }.get()
        return try ClearedPlayout(of: sid, fields, reason: reason)
    }

    /// Asks to be told, by the event `playout.marked`, when the track has been heard up to `time`; nil is the end of what has been sent.
    public func mark(_ name: String, at time: MediaTime? = nil) async throws(RequestFailure) {
        _ = try await withCheckedContinuation { door.post(.mark(id, time, name: name, timeout: requestTimeout, $0)) }.get()
    }

    /// Where on the track's clock a frame begins that follows what has been sent; nil if the track is gone.
    public func position() async -> MediaTime? {
        await withCheckedContinuation { door.post(.locate(id, $0)) }
    }
}
