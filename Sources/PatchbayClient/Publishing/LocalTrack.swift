public import Audio
internal import Synchronization
public import Wire

/// A track of the local participant. Thread-safe; send the frames of one track from one task.
public final class LocalTrack: Sendable, Identifiable {
    /// Local to this client: unchanged by a fresh join, which changes the sid.
    public let id: Int
    private static let lastID = Atomic(0)
    private let room: RoomHandle
    private let requestTimeout: Duration
    private let state: Mutex<TrackInfo>
    private let clears = Atomic(0)

    init(room: RoomHandle, info: TrackInfo, requestTimeout: Duration) {
        id = Self.lastID.add(1, ordering: .relaxed).newValue
        self.room = room
        self.requestTimeout = requestTimeout
        state = Mutex(info)
    }

    /// The gateway's description. Sid and alias change with a reconnect that does not resume the session.
    public var info: TrackInfo { state.withLock { $0 } }
    public var sid: TrackSID { info.sid }

    func renew(_ info: TrackInfo) {
        state.withLock { $0 = info }
    }

    /// How often the track was cleared, by anyone.
    var clearCount: Int { clears.load(ordering: .relaxed) }

    func didClear() {
        clears.add(1, ordering: .relaxed)
    }

    // MARK: Opus packets

    /// Sends one Opus packet now, without waiting. If the socket accepts no more, up to 128 frames are queued; the oldest are dropped and counted
    /// in `RoomStatistics.framesUnsent`, as are all frames sent while disconnected.
    ///
    /// The library assigns sequence numbers and sets the flag 0x80 on the first frame and after each pause of 200 ms; the caller may set it on
    /// other frames, too.
    ///
    /// - Parameters:
    ///   - packet: one Opus packet (RFC 6716), 1 to 1,488 bytes and 2.5 to 120 ms.
    ///   - timing: its position on the track's 48 kHz clock.
    ///   - level: audio level and voice activity (RFC 6464).
    ///   - flags: `.talkspurtStart`, `.talkspurtEnd`, `.dtx`, `.inbandFEC`; others are reserved for the gateway and removed.
    /// - Throws: `OpusError.packet` if the bytes are not an Opus packet or exceed the limit.
    public func send(
        _ packet: [UInt8], timing: FrameTiming = .following, level: AudioLevelByte, flags: FrameFlags = []
    ) throws(OpusError) {
        guard packet.count <= ProtocolLimits.opusPacketBytesMax else { throw .packet(.frameTooLong) }
        let ticks: Int
        do { ticks = try OpusPacket(packet).ticks } catch { throw .packet(error) }
        let frame = OutgoingFrame(packet: packet, ticks: ticks, timing: timing, level: level, flags: flags)
        room.submit { [id] in $0.send(frame, track: id) }
    }

    /// Sends frames in real time: the first at once, each other one at the end of those before it. Returns at the end of the last.
    ///
    /// - Parameters:
    ///   - next: returns the next frame; nil at the end.
    ///   - sent: called for each frame sent, with its time by `MediaClock`.
    /// - Throws: errors of `next`, `CancellationError`, `OpusError.packet`, or `RequestFailure.ended` once the room has ended.
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

    /// Encodes and sends PCM in real time and returns at its end. It is one talkspurt, regardless of pauses.
    ///
    /// - Parameters:
    ///   - sound: at 1,000 to 768,000 Hz. Resampled to 48 kHz, and mixed to mono unless it has `settings.channels` channels.
    /// - Throws: `CancellationError`, `OpusError`, `ResamplerError`, or `RequestFailure.ended` once the room has ended.
    public func speak(_ sound: PCMBuffer, settings: SpeechSettings = SpeechSettings()) async throws {
        var speech = try PCMSpeech(sound, settings: settings)
        try await speak { try speech.next() }
    }

    /// Creates a source for PCM that becomes available piece by piece.
    ///
    /// - Throws: `OpusError` for settings out of range.
    public func makePCMSource(_ settings: SpeechSettings = SpeechSettings()) throws(OpusError) -> PCMSource {
        try PCMSource(track: self, settings: settings)
    }

    /// Sends a frame when it is due and returns the time.
    @discardableResult
    func send(_ frame: SpokenFrame, _ pacer: inout Pacer) async throws -> Instant {
        let due = pacer.deadline(ticks: frame.ticks, silenceBefore: frame.silenceBefore, at: MediaClock.now)
        try await MediaClock.sleep(until: due)
        if room.isEnded { throw RequestFailure.ended }
        let now = MediaClock.now
        try send(frame.packet, timing: .afterSilence(ticks: frame.silenceBefore), level: frame.level, flags: frame.flags)
        return now
    }

    // MARK: Requests

    /// Mutes or unmutes the track. While it is muted, the gateway drops its frames.
    public func mute(_ muted: Bool = true) async throws(RequestFailure) {
        _ = try await room.perform { [id, requestTimeout] in $0.mute(id, muted, timeout: requestTimeout, $1) }
    }

    /// Unpublishes the track. Frames sent on it afterwards are dropped.
    public func unpublish() async throws(RequestFailure) {
        _ = try await room.perform { [id, requestTimeout] in $0.unpublish(id, timeout: requestTimeout, $1) }
    }

    // MARK: Ahead

    /// Sends frames of an `ahead` track as fast as `next` returns them, at most 30 s ahead of playout, and returns once the last is sent. The
    /// gateway releases them in real time.
    ///
    /// - Parameters:
    ///   - next: returns the next frame; nil at the end.
    ///   - sent: called for each frame sent, with its time by `MediaClock`.
    /// - Returns: false if the track was cleared meanwhile; the remaining frames are not sent then.
    /// - Throws: errors of `next`, `CancellationError`, `OpusError.packet`, or `RequestFailure.ended` once the room has ended.
    @discardableResult
    public func push(
        frames next: () throws -> SpokenFrame?, sent: (SpokenFrame, Instant) -> Void = { _, _ in }
    ) async throws -> Bool {
        let clearsBefore = clearCount
        var pacer = AheadPacer()
        while let frame = try next() {
            try await MediaClock.sleep(until: pacer.deadline(ticks: frame.ticks + frame.silenceBefore, at: MediaClock.now))
            if room.isEnded { throw RequestFailure.ended }
            if clearCount != clearsBefore { return false }
            try send(frame.packet, timing: .afterSilence(ticks: frame.silenceBefore), level: frame.level, flags: frame.flags)
            sent(frame, MediaClock.now)
        }
        return true
    }

    /// As `push(frames:)`, for complete PCM. It is one talkspurt.
    @discardableResult
    public func push(_ sound: PCMBuffer, settings: SpeechSettings = SpeechSettings()) async throws -> Bool {
        var speech = try PCMSpeech(sound, settings: settings)
        return try await push { try speech.next() }
    }

    /// Discards the audio that was sent but not played. Frames sent after this has returned are played.
    ///
    /// - Returns: what had been played.
    @discardableResult
    public func clear(reason: String? = nil) async throws(RequestFailure) -> ClearedPlayout {
        let fields = try await room.perform { [id, requestTimeout] in $0.clear(id, reason: reason, timeout: requestTimeout, $1) }
        return try ClearedPlayout(of: sid, fields, reason: reason)
    }

    /// Requests the event `playout.marked` for the moment when the track has been played up to `time`; nil is the end of the frames sent.
    public func mark(_ name: String, at time: MediaTime? = nil) async throws(RequestFailure) {
        _ = try await room.perform { [id, requestTimeout] in $0.mark(id, at: time, name: name, timeout: requestTimeout, $1) }
    }

    /// The timestamp of a frame that directly follows those sent; nil if the track has ended.
    public func position() async -> MediaTime? {
        await withCheckedContinuation { position in
            room.submit { [id] in
                position.resume(returning: $0.published[id]?.numbering.end)
            } ended: {
                position.resume(returning: nil)
            }
        }
    }
}
