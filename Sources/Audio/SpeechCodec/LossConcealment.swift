/// Conceals lost packets for a codec that has no concealment of its own: repeats the last sound, back and forth, and fades it out.
///
/// Playing it backwards first keeps the waveform continuous, whatever the sound's period.
struct LossConcealment {
    /// How much of the last sound is repeated.
    static let repeatedMilliseconds = 20
    /// After this much concealment follows silence.
    static let fadeMilliseconds = 60

    private let sampleRate: Int
    private let channels: Int
    /// The end of the last sound, interleaved.
    private var past: [Int16] = []
    /// Samples per channel synthesized since then.
    private var concealed = 0

    init(sampleRate: Int, channels: Int) {
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// Remembers decoded audio.
    mutating func heard(_ pcm: ArraySlice<Int16>) {
        past = Array((past + pcm).suffix(sampleRate * Self.repeatedMilliseconds / 1_000 * channels))
        concealed = 0
    }

    /// Appends `samples` per channel.
    mutating func conceal(samples: Int, appendingTo pcm: inout [Int16]) {
        let length = past.count / channels
        let fade = sampleRate * Self.fadeMilliseconds / 1_000
        for position in concealed..<(concealed + samples) {
            guard length > 0, position < fade else {
                pcm.append(contentsOf: repeatElement(0, count: channels))
                continue
            }
            // 0, 1, …, length - 1 from the end backwards, then forwards again.
            let step = position % (2 * length)
            let frame = step < length ? length - 1 - step : step - length
            for channel in 0..<channels {
                pcm.append(Int16(Int(past[frame * channels + channel]) * (fade - position) / fade))
            }
        }
        concealed += samples
    }

    mutating func reset() {
        past = []
        concealed = 0
    }
}
