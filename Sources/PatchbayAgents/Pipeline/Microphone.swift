internal import Audio
internal import Foundation
internal import PatchbayClient
internal import Wire

/// A user's track as windows for voice activity detection, and as the audio of the utterance in progress.
///
/// Frames are decoded when they arrive, without a jitter buffer: recognition needs no steady pace. Gaps in the timestamps become silence.
/// Belongs to the pipeline.
final class Microphone {
    /// Audio before the detected beginning that is recognized with an utterance.
    static let preRoll = Duration.milliseconds(300)
    /// Silence that replaces a gap, at most.
    private static let gapMax = SpeechSegment.sampleRate
    /// Frames missing for this long are silence, if the sender announced a pause; otherwise they may be late.
    private static let pauseAfter = Duration.milliseconds(80)
    private static let stallAfter = Duration.seconds(1)

    let track: TrackInfo
    var echo = EchoGuard()
    private let detector: any VoiceActivityDetector
    private var decoder: OpusDecoder
    /// Samples of an incomplete window.
    private var window: [Float] = []
    /// The pre-roll, or the utterance in progress.
    private var kept: [Float] = []
    /// Set during an utterance.
    private var isKeeping = false
    /// When the audio in `kept` began, during an utterance.
    private var keptFrom: Instant
    /// Samples of `kept` covered by the latest final recognition.
    private var recognized = 0
    /// The audio of the last utterance, which may go on.
    private var last: [Float] = []
    /// When the user was audible lately.
    private var voice = VoiceLevels()
    /// The end of the last frame.
    private var end: MediaTime?
    private var lastFrameAt: Instant
    private var announcedPause = true
    /// Silence inserted since the last frame, in samples.
    private var inserted = 0
    private(set) var framesMalformed = 0

    init(track: TrackInfo, detector: any VoiceActivityDetector, at now: Instant) throws {
        self.track = track
        self.detector = detector
        decoder = try OpusDecoder(sampleRate: SpeechSegment.sampleRate)
        lastFrameAt = now
        keptFrom = now
    }

    struct Window {
        var activity: SpeechSegmenter.Window
        /// dBov.
        var level: Double
    }

    /// Decodes a frame. A malformed one is counted and replaced by silence.
    func receive(_ frame: ReceivedFrame, at now: Instant) throws -> [Window] {
        var samples: [Float] = []
        let start = frame.header.timestamp
        if let end {
            let gap = Int(start.distance(from: end)) / 3 - inserted
            // Timestamps that go back are those of a new source.
            if gap > 0 { samples = [Float](repeating: 0, count: min(gap, Self.gapMax)) }
        }
        inserted = 0
        lastFrameAt = now
        announcedPause = frame.header.flags.contains(.talkspurtEnd) || frame.header.flags.contains(.dtx)
        do throws(OpusError) {
            let pcm = try decoder.decode(frame.packet)
            end = start.advanced(by: pcm.count * 3)
            samples += pcm.map { Float($0) / 32_768 }
        } catch {
            framesMalformed += 1
            end = start
        }
        return try windows(samples, until: now)
    }

    /// Inserts silence while no frames arrive.
    func advance(to now: Instant) throws -> [Window] {
        let missing = now - lastFrameAt
        guard missing >= (announcedPause ? Self.pauseAfter : Self.stallAfter) else { return [] }
        let due = Int(missing.inNanoseconds / 1_000 * Int64(SpeechSegment.sampleRate) / 1_000_000) - inserted
        guard due >= detector.windowSize else { return [] }
        let count = min(due, Self.gapMax)
        inserted += due
        return try windows([Float](repeating: 0, count: count), until: now)
    }

    // MARK: The utterance

    /// Keeps the audio from `leadIn` and the pre-roll on.
    func beginUtterance(leadIn: Duration, at now: Instant) {
        let count = Self.samples(in: leadIn + Self.preRoll)
        if kept.count > count { kept.removeFirst(kept.count - count) }
        keep(from: now)
    }

    /// Keeps the audio of the last utterance, and that from `leadIn` and the pre-roll on. A longer pause between them is shortened.
    func continueUtterance(leadIn: Duration, at now: Instant) {
        let count = Self.samples(in: leadIn + Self.preRoll)
        kept = last + kept.suffix(count)
        keep(from: now)
    }

    private func keep(from now: Instant) {
        isKeeping = true
        recognized = 0
        last = []
        keptFrom = now + (.zero - Self.duration(of: kept.count))
    }

    /// The audio for a recognition. All segments of one utterance up to `settle` have the same start.
    func segment(isPartial: Bool, language: String) -> SpeechSegment {
        if !isPartial { recognized = kept.count }
        return SpeechSegment(samples: kept, start: keptFrom, language: language, isPartial: isPartial)
    }

    /// Forgets the audio covered by the latest final recognition, and returns it.
    @discardableResult
    func settle() -> [Float] {
        let settled = Array(kept.prefix(recognized))
        kept.removeFirst(settled.count)
        keptFrom = keptFrom + Self.duration(of: settled.count)
        recognized = 0
        return settled
    }

    /// Forgets what was recognized, so that the next utterance's pre-roll does not repeat the end of this one.
    ///
    /// - Returns: all audio of the utterance that was kept.
    func endUtterance() -> [Float] {
        let audio = kept
        isKeeping = false
        last = settle()
        trim()
        return audio
    }

    /// The end of the utterance's audio for a turn detector, up to the beginning of the pause of the length `silence`.
    func endOfSpeech(silence: Duration) -> [Float] {
        // A part of the pause, because the detector of voice activity notices it early or late, and because it is heard as one.
        let count = kept.count - Self.samples(in: max(silence - .milliseconds(64), .zero))
        return Array(kept.prefix(max(count, 0)).suffix(SmartTurnDetector.samplesMax))
    }

    /// The timestamp on the track of the end of the audio received so far.
    var position: MediaTime? { end }

    /// The end of the user's voice by its level, if a detector found the last speech in the window that arrived at `detected`.
    func lastVoice(before detected: Instant) -> Instant { voice.last(before: detected) }

    // MARK: Windows

    /// - Parameter now: the time of the last sample.
    private func windows(_ samples: [Float], until now: Instant) throws -> [Window] {
        window += samples
        let began = now + (.zero - Self.duration(of: window.count))
        let size = detector.windowSize
        var windows: [Window] = []
        var start = 0
        while window.count - start >= size {
            let piece = Array(window[start..<start + size])
            voice.append(piece, from: began + Self.duration(of: start))
            start += size
            let level = Self.level(of: piece)
            let probability = level <= -120 ? 0 : try detector.probability(of: piece)
            let duration = Self.duration(of: size)
            windows.append(
                Window(activity: SpeechSegmenter.Window(probability: probability, duration: duration), level: level))
            kept += piece
            if !isKeeping { trim() }
        }
        window.removeFirst(start)
        return windows
    }

    private func trim() {
        // The onset of speech is detected up to a few windows late.
        let count = Self.samples(in: Self.preRoll + .milliseconds(300))
        if kept.count > 2 * count { kept.removeFirst(kept.count - count) }
    }

    static func duration(of samples: Int) -> Duration { .nanoseconds(Int64(samples) * 62_500) }

    private static func samples(in span: Duration) -> Int {
        Int(span.inNanoseconds / 1_000 * Int64(SpeechSegment.sampleRate) / 1_000_000)
    }

    static func level(of samples: some Collection<Float>) -> Double {
        let energy = samples.reduce(0) { $0 + Double($1 * $1) } / Double(max(samples.count, 1))
        return energy > 0 ? max(10 * log10(energy), -127) : -127
    }
}
