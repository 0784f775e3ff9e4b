internal import Wire

/// Active speakers, by LiveKit's algorithm (livekit-server `audio/audiolevel.go` and `room.go`).
///
/// A window counts if at least 40 % of it was loud enough. Its level is that of the loudest frame, weighted by the active share and
/// smoothed over two windows; a window that does not count ends the speaking at once. A participant has the level of its loudest
/// track. Levels are quantised to eighths, which limits the number of events.
struct ActiveSpeakers: Sendable {
    private struct Voice {
        var participant: Identity
        /// Smoothed, linear, 0…1.
        var level = 0.0
        var measuredAt: Instant
    }

    private var voices = Roster<TrackSID, Voice>()
    /// The speakers as last reported.
    private var reported = Roster<Identity, Speaker>()

    /// The speakers as last reported.
    var active: [Speaker] { reported.values }

    /// When a level becomes stale, if there is one.
    var deadline: Instant? {
        voices.values.lazy.filter { $0.level > 0 }.map { $0.measuredAt + Self.staleAfter }.min()
    }

    /// Remembers speakers that another instance reported; they have stopped.
    mutating func restore(_ speakers: [Speaker]) {
        for speaker in speakers where !reported.contains(speaker.participant) { reported.append(speaker, for: speaker.participant) }
    }

    mutating func add(_ track: TrackSID, of participant: Identity, at now: Instant) {
        voices.append(Voice(participant: participant, measuredAt: now), for: track)
    }

    mutating func remove(_ track: TrackSID) {
        voices.remove(track)
    }

    /// Resets the level of a track that was muted or held.
    mutating func resetLevel(of track: TrackSID) {
        if let index = voices.index(of: track) { voices[at: index].level = 0 }
    }

    mutating func update(with measurement: TrackMeasurement, at now: Instant) {
        guard let index = voices.index(of: measurement.track) else { return }
        voices[at: index].measuredAt = now
        let old = voices[at: index].level
        voices[at: index].level = Self.level(of: measurement).map { old + Self.smoothing * ($0 - old) } ?? 0
    }

    /// Changes to report: active speakers loudest first, then those who stopped. Each change is returned once.
    mutating func changes(at now: Instant) -> [Speaker] {
        for index in 0..<voices.count where voices[at: index].measuredAt + Self.staleAfter <= now { voices[at: index].level = 0 }
        // Usually nothing has changed.
        if isUnchanged { return [] }
        let current = loudest()
        var changes: [Speaker] = []
        var still = Roster<Identity, Speaker>()
        for speaker in current {
            if reported[speaker.participant] != speaker { changes.append(speaker) }
            still.append(speaker, for: speaker.participant)
        }
        for var speaker in reported.values where !still.contains(speaker.participant) {
            speaker.level = 0
            speaker.active = false
            changes.append(speaker)
        }
        reported = still
        return changes
    }

    /// Whether the speakers are those last reported. Allocates nothing, but only supports up to four active tracks.
    private var isUnchanged: Bool {
        var active = InlineArray<4, Int>(repeating: 0)
        var count = 0
        for (index, voice) in voices.values.enumerated() where voice.level >= Self.activeLevel {
            guard count < active.count else { return false }
            active[count] = index
            count += 1
        }
        var participants = 0
        for index in 0..<count {
            let voice = voices.values[active[index]]
            let isLoudest = (0..<count).allSatisfy { other in
                let rival = voices.values[active[other]]
                return other == index || rival.participant != voice.participant
                    || (rival.level, active[index]) <= (voice.level, active[other])
            }
            guard isLoudest else { continue }
            participants += 1
            let (track, level) = (voices.keys[active[index]], Self.quantised(voice.level))
            let isReported = reported.values.contains { $0.participant == voice.participant && $0.track == track && $0.level == level }
            guard isReported else { return false }
        }
        return participants == reported.count
    }

    /// Each active participant by its loudest track, loudest first; ties in publishing order.
    private func loudest() -> [Speaker] {
        guard voices.values.contains(where: { $0.level >= Self.activeLevel }) else { return [] }
        var best = Roster<Identity, (index: Int, level: Double)>()
        for (index, voice) in voices.values.enumerated() where voice.level >= Self.activeLevel {
            if let known = best.index(of: voice.participant) {
                if best[at: known].level < voice.level { best[at: known] = (index, voice.level) }
            } else {
                best.append((index, voice.level), for: voice.participant)
            }
        }
        return best.values.sorted { ($1.level, $0.index) < ($0.level, $1.index) }.map { index, level in
            Speaker(
                participant: voices.values[index].participant, track: voices.keys[index], level: Self.quantised(level), active: true)
        }
    }

    /// Up to the next eighth, at most 1.
    static func quantised(_ level: Double) -> Double {
        min(1, (level * 8).rounded(.up) / 8)
    }

    /// The linear level of one window, 0…1; nil if too little of it was loud.
    ///
    /// LiveKit adds 20·log₁₀(share) in decibels, which is a factor on the linear scale. That avoids the logarithm, whose last
    /// digits differ between C libraries.
    static func level(of measurement: TrackMeasurement) -> Double? {
        guard measurement.windowMilliseconds > 0 else { return nil }
        let share = min(1, Double(measurement.activeMilliseconds) / Double(measurement.windowMilliseconds))
        guard share * 100 >= Double(Limits.speakerActivePercent), (0...127).contains(measurement.loudestLevel) else { return nil }
        return linear[measurement.loudestLevel] * share
    }

    /// 10^(-level/20) for each level in -dBov.
    static let linear: [Double] = {
        var levels = [1.0]
        for _ in 1...127 { levels.append(levels[levels.count - 1] * 0.891_250_938_133_745_5) }
        return levels
    }()

    private static let activeLevel = linear[Limits.speakerActiveLevel]
    private static let smoothing = 2 / (Double(Limits.speakerSmoothIntervals) + 1)
    /// Two windows without a measurement.
    static let staleAfter = Limits.speakerInterval * 2
}

/// The talkspurt state of a track: every reported start has exactly one stop.
///
/// Meter reports and decisions of the room (mute, hold, leave) may cross. The first one to end a talkspurt wins; later ones have no
/// effect.
struct Talkspurt: Sendable {
    private enum State {
        case quiet
        case talking(from: MediaTime, since: Instant)
    }

    private var state = State.quiet

    init() {}

    /// A talkspurt that began before.
    init(from start: MediaTime, since: Instant) {
        state = .talking(from: start, since: since)
    }

    /// Start of the current talkspurt, nil if there is none.
    var start: MediaTime? { current?.start }

    /// Start of the current talkspurt, and when it was reported.
    var current: (start: MediaTime, since: Instant)? {
        if case .talking(let start, let since) = state { (start, since) } else { nil }
    }

    /// - Returns: whether a talkspurt started.
    mutating func begin(at start: MediaTime, now: Instant) -> Bool {
        guard case .quiet = state else { return false }
        state = .talking(from: start, since: now)
        return true
    }

    /// - Returns: the end to report, never before the start; nil if no talkspurt was active.
    mutating func end(at end: MediaTime) -> MediaTime? {
        guard case .talking(let start, _) = state else { return nil }
        state = .quiet
        return end.distance(from: start) < 0 ? start : end
    }

    /// Ends it without a frame's timestamp, by the time that has passed.
    mutating func cutOff(now: Instant) -> MediaTime? {
        guard case .talking(let start, let since) = state else { return nil }
        state = .quiet
        return start.advanced(by: Int((now - since).inMilliseconds) * MediaTime.ticksPerMillisecond)
    }
}
