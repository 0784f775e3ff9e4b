package import Wire

/// Meters one track from its frame headers: talkspurts and level. A few integer operations per frame.
package struct TrackMeter: Sendable, Hashable {
    /// A talkspurt began or ended.
    package enum Edge: Sendable, Hashable {
        case started(MediaTime)
        case stopped(MediaTime, TalkEnd)
        /// A new one began before the end of the old one was detected; its last frame ended at `after`.
        case restarted(MediaTime, after: MediaTime)
    }

    private let frameTicks: Int
    private let frameMilliseconds: Int
    package private(set) var isTalking = false
    private var lastFrameAt = Instant(nanoseconds: 0)
    private var lastVoiceAt = Instant(nanoseconds: 0)
    private var endOfLastFrame = MediaTime(ticks: 0)
    private var seenMilliseconds = 0
    private var activeMilliseconds = 0
    private var loudestLevel = 127

    /// - Parameter frameMilliseconds: audio per frame, as declared by the publisher.
    package init(frameMilliseconds: Double) {
        frameTicks = Int(frameMilliseconds * Double(MediaTime.ticksPerMillisecond))
        self.frameMilliseconds = max(1, Int(frameMilliseconds))
    }

    /// Meters an admitted frame.
    package mutating func record(_ header: FrameHeader, at now: Instant) -> Edge? {
        let level = header.level.level
        seenMilliseconds += frameMilliseconds
        if level <= Limits.speakerActiveLevel { activeMilliseconds += frameMilliseconds }
        if level < loudestLevel { loudestLevel = level }
        let isVoice = header.level.isVoice || level <= Limits.silenceLevel
        if isVoice { lastVoiceAt = now }
        lastFrameAt = now
        let end = header.timestamp.advanced(by: frameTicks)
        let endBefore = endOfLastFrame
        endOfLastFrame = end

        if header.flags.contains(.talkspurtEnd) {
            guard isTalking else { return nil }
            isTalking = false
            return .stopped(end, .end)
        }
        if header.flags.contains(.talkspurtStart) {
            lastVoiceAt = now
            defer { isTalking = true }
            return isTalking ? .restarted(header.timestamp, after: endBefore) : .started(header.timestamp)
        }
        if !isTalking, header.level.isVoice {
            isTalking = true
            return .started(header.timestamp)
        }
        return nil
    }

    /// Ends a talkspurt without further frames, or with silent ones only.
    package mutating func tick(at now: Instant) -> Edge? {
        guard isTalking else { return nil }
        guard now - lastFrameAt >= Limits.talkspurtPause || now - lastVoiceAt >= Limits.talkspurtQuiet else { return nil }
        isTalking = false
        return .stopped(endOfLastFrame, .silence)
    }

    /// The track was muted or held; the caller ended its talkspurt.
    package mutating func interrupt() {
        isTalking = false
    }

    /// The measurement since the last call.
    package mutating func takeMeasurement(of track: TrackSID, window: Duration) -> TrackMeasurement? {
        guard seenMilliseconds > 0 else { return nil }
        defer {
            seenMilliseconds = 0
            activeMilliseconds = 0
            loudestLevel = 127
        }
        return TrackMeasurement(
            track: track, windowMilliseconds: Int(window.inMilliseconds), activeMilliseconds: activeMilliseconds, loudestLevel: loudestLevel
        )
    }
}

/// Level measurement of one track over one window.
package struct TrackMeasurement: Sendable, Hashable {
    package var track: TrackSID
    /// Length of the window, in milliseconds of audio received or of time, whichever is less.
    package var windowMilliseconds: Int
    /// Milliseconds of the window at or above the active level.
    package var activeMilliseconds: Int
    /// The loudest frame, 0…127 in -dBov; 127 if there was none.
    package var loudestLevel: Int
}
